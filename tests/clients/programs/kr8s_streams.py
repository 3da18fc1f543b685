"""kr8s: logs, exec and port-forward; prints one line a thing that worked."""

import sys
import urllib.request

from kr8s.objects import Pod

namespace, name = sys.argv[1:3]
pod = Pod.get(name, namespace=namespace)
print("log", list(pod.logs(tail_lines=1))[-1])
done = pod.exec(["sh", "-c", "echo out; echo err >&2; exit 3"], check=False)
print("exec", done.stdout.decode().strip(), done.stderr.decode().strip(), done.returncode)
with (
    pod.portforward(remote_port=8000, local_port="auto") as port,
    urllib.request.urlopen(f"http://127.0.0.1:{port}/greeting", timeout=20) as answer,
):
    print("ports", answer.read().decode().strip())
