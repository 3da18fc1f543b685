"""A line through points, learned by all workers of a job together.

pdc train examples/train/fit.py --workers 2 --follow
"""

import paddle
import paddle.distributed as dist

dist.init_parallel_env()
paddle.seed(1)
net = paddle.DataParallel(paddle.nn.Linear(2, 1))
descent = paddle.optimizer.SGD(0.2, parameters=net.parameters())
for step in range(1, 51):
    x = paddle.rand([32, 2])
    loss = ((net(x) - x.sum(axis=1, keepdim=True)) ** 2).mean()
    loss.backward()
    descent.step()
    descent.clear_grad()
    if step % 10 == 0:
        print(f"epoch 1/1 step {step}/50 loss {float(loss):.4f}", flush=True)
