"""The official Python client's streams: logs, exec, port-forward; prints one line a thing that worked."""

import sys

from kubernetes.stream import portforward, stream

from kubernetes import client, config

namespace, pod = sys.argv[1:3]
config.load_kube_config()
core = client.CoreV1Api()

print("log", core.read_namespaced_pod_log(pod, namespace, tail_lines=1).strip())
told = stream(
    core.connect_get_namespaced_pod_exec, pod, namespace, command=["sh", "-c", "echo out; echo err >&2"],
    stderr=True, stdout=True, stdin=False, tty=False,
)  # fmt: skip
print("exec", sorted(told.split()))
talk = stream(
    core.connect_get_namespaced_pod_exec, pod, namespace, command=["sh"],
    stderr=True, stdin=True, stdout=True, tty=False, _preload_content=False,
)  # fmt: skip
talk.write_stdin("echo $((6 * 7)); exit 3\n")
talk.run_forever(timeout=20)
print("talk", talk.read_stdout().strip(), talk.returncode)
ports = portforward(core.connect_get_namespaced_pod_portforward, pod, namespace, ports="8000")
way = ports.socket(8000)
way.setblocking(True)
way.sendall(b"GET /greeting HTTP/1.0\r\n\r\n")
answer = b""
while data := way.recv(1024):
    answer += data
way.close()
print("ports", answer.split(b"\r\n\r\n")[1].decode().strip(), ports.error(8000))
