"""A scripted endpoint on 127.0.0.1 for the tests of `assay load`: known service times, stalls,
streams with known gaps,
and every kind of failure. Prints its port, serves until stdin ends.

The path says what happens; parameters follow a question mark, numbers are milliseconds unless
said otherwise.
"""

import json
import socket
import struct
import sys
import threading
import time
import urllib.parse

counts = {}
lock = threading.Lock()
stall = threading.Lock()


def count(name):
    with lock:
        counts[name] = counts.get(name, 0) + 1
        return counts[name]


class Gone(Exception):
    """The connection is over."""


class Connection:
    def __init__(self, sock, tls=False):
        self.sock, self.tls = sock, tls
        self.file = sock.makefile("rb")

    def request(self):
        line = self.file.readline(65536)
        if not line:
            raise Gone
        method, path, _ = line.decode("latin-1").split(" ", 2)
        headers = {}
        while True:
            line = self.file.readline(65536).decode("latin-1").strip()
            if not line:
                break
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        body = self.file.read(int(headers.get("content-length", 0)))
        return method, path, headers, body

    def send(self, data):
        self.sock.sendall(data if isinstance(data, bytes) else data.encode())

    def reply(self, body, status="200 OK", extra=""):
        body = body if isinstance(body, bytes) else body.encode()
        self.send(
            f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{extra}\r\n".encode() + body
        )

    def chunk(self, text):
        data = text.encode()
        self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Gone


def pause(ms):
    if ms:
        time.sleep(float(ms) / 1000)


# ---- plain HTTP ----


def fixed(c, q, _):
    count("fixed")
    pause(q.get("ms", 0))
    c.reply("hello")


def stalled(c, q, _):
    n = count("stalled")
    with stall:  # every request behind the one that stalls waits too
        if n == int(q.get("at", 5)):
            pause(q.get("ms", 1000))
    c.reply("hello")


def hang(c, q, _):
    c.file.readline(1)  # until the client gives up
    raise Gone


def reset(c, q, _):
    c.reset()


def garbage(c, q, _):
    c.send(b"\x16\x03\x01this is no HTTP\r\n\r\n" * 3)
    raise Gone


def endless(c, q, _):
    c.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        c.chunk("x" * 10)
        pause(5)


def redirect(c, q, _):
    count("redirected")
    c.reply("", "302 Found", "Location: /fixed\r\n")


def closes(c, q, _):
    c.reply("hello", extra="Connection: close\r\n")
    raise Gone


def drops(c, q, _):  # says nothing, and closes the connection that the client keeps
    c.reply("hello")
    raise Gone


def short(c, q, _):
    c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
    raise Gone


def status(c, q, _):
    c.reply("no", f"{q.get('code', '503')} Says So")


def chunked(c, q, _):
    c.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    for part in ("he", "llo"):
        c.chunk(part)
    c.send(b"0\r\nTrailer: x\r\n\r\n")


def mixed(c, q, _):  # one in five is wrong
    n = count("mixed")
    if n % 5 == 3:
        c.reply("goodbye")
    else:
        c.reply("hello")


def echo(c, q, body):
    c.reply(body)


def headers(c, q, _):
    c.reply(
        "hello" if c.last.get("authorization") == "Bearer s3cret" else "no key",
        "200 OK" if c.last.get("authorization") == "Bearer s3cret" else "401 No",
    )


# ---- OpenAI ----


def models(c, q, _):
    c.reply(json.dumps({"object": "list", "data": [{"id": "tiny"}]}))


def openai(c, q, body):
    asked = json.loads(body)
    n, wrong = int(q.get("n", asked.get("max_tokens", 4))), q.get("wrong")
    number = count("openai")
    pause(q.get("ttft", 0))
    if asked.get("model", "tiny") != "tiny":
        return c.reply(json.dumps({"error": {"message": "no such model"}}), "404 Not Found")
    if not asked.get("stream"):
        usage = {"prompt_tokens": 7, "completion_tokens": n}
        return c.reply(
            json.dumps(
                {
                    "choices": [{"message": {"content": "x " * n}, "finish_reason": "length"}],
                    "usage": usage,
                }
            )
        )
    c.send(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    for i in range(10**9 if wrong == "endless" else n):
        if i:
            pause(q.get("gap", 0))
        delta = {"delta": {"content": "x"}} if "messages" in asked else {"text": "x"}
        c.chunk("data: " + json.dumps({"choices": [{"index": 0, **delta}]}) + "\n\n")
        if wrong and number % 5 == 3:
            if wrong == "error":
                c.chunk('data: {"error": {"message": "out of memory"}}\n\n')
            elif wrong == "garbage":
                c.chunk("data: {not json\n\n")
            elif wrong == "cut":
                raise Gone
            elif wrong == "unfinished":
                c.send(b"0\r\n\r\n")
                return None
    if q.get("usage") and asked.get("stream_options", {}).get("include_usage"):
        usage = {"prompt_tokens": 7, "completion_tokens": n * int(q["usage"])}
        c.chunk("data: " + json.dumps({"choices": [], "usage": usage}) + "\n\n")
    c.chunk("data: [DONE]\n\n")
    c.send(b"0\r\n\r\n")
    return None


# ---- KServe, TF-Serving, TorchServe ----


def kserve_metadata(c, q, _):
    c.reply(
        json.dumps(
            {
                "name": "m",
                "platform": "x",
                "inputs": [
                    {"name": "x", "datatype": "FP32", "shape": [-1, 2, 3]},
                    {"name": "ids", "datatype": "INT64", "shape": [-1, 4]},
                ],
                "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, 2]}],
            }
        )
    )


def kserve(c, q, body):
    asked = json.loads(body)
    shapes = {i["name"]: (i["datatype"], i["shape"], len(i["data"])) for i in asked["inputs"]}
    if shapes != {"x": ("FP32", [1, 2, 3], 6), "ids": ("INT64", [1, 4], 4)}:
        return c.reply(json.dumps({"error": f"bad inputs {shapes}"}), "400 Bad Request")
    n = count("kserve")
    answer = {
        "model_name": "m",
        "id": asked.get("id"),
        "outputs": [{"name": "y", "datatype": "FP32", "shape": [1, 2], "data": [0.5, 1]}],
    }
    if n % 8 == 1:
        answer["id"] = "another"
    elif n % 8 == 3:
        answer["outputs"][0]["data"] = [0.5]
    elif n % 8 == 5:
        answer["outputs"][0]["name"] = "z"
    elif n % 8 == 7:
        answer = {"error": "inference failed"}
    return c.reply(json.dumps(answer))


def tf_metadata(c, q, _):
    dims = [{"size": "-1", "name": ""}, {"size": "2", "name": ""}, {"size": "3", "name": ""}]
    x = {"dtype": "DT_FLOAT", "tensor_shape": {"dim": dims, "unknown_rank": False}, "name": "x:0"}
    signature = {"inputs": {"x": x}, "outputs": {}, "method_name": "tensorflow/serving/predict"}
    c.reply(
        json.dumps(
            {
                "model_spec": {"name": "m"},
                "metadata": {"signature_def": {"signature_def": {"serving_default": signature}}},
            }
        )
    )


def tfserving(c, q, body):
    rows = json.loads(body)["instances"]
    if len(rows) != 1 or len(rows[0]) != 2 or len(rows[0][0]) != 3:
        return c.reply(json.dumps({"error": "bad instances"}), "400 Bad Request")
    n = count("tfserving")
    return c.reply(
        json.dumps(
            {"predictions": [[0.5], [0.5]]}
            if n % 5 == 2
            else {"error": "failed"}
            if n % 5 == 4
            else {"predictions": [[0.5]]}
        )
    )


def torchserve(c, q, body):
    if body != b"\x00image":
        return c.reply(json.dumps({"code": 400, "type": "BadRequest", "message": "?"}), "400 Bad")
    n = count("torchserve")
    return c.reply(
        '{"tabby": 0.5'
        if n % 5 == 2
        else '{"code": 507, "type": "InternalServerException", "message": "out"}'
        if n % 5 == 4
        else '{"tabby": 0.5}'
    )


ROUTES = {
    "/": fixed,
    "/fixed": fixed,
    "/stall": stalled,
    "/hang": hang,
    "/reset": reset,
    "/garbage": garbage,
    "/endless": endless,
    "/redirect": redirect,
    "/closes": closes,
    "/drops": drops,
    "/short": short,
    "/status": status,
    "/chunked": chunked,
    "/mixed": mixed,
    "/echo": echo,
    "/headers": headers,
    "/v1/models": models,
    "/v1/chat/completions": openai,
    "/v1/completions": openai,
    "/v2/models/m": kserve_metadata,
    "/v2/models/m/infer": kserve,
    "/v1/models/m/metadata": tf_metadata,
    "/v1/models/m:predict": tfserving,
    "/predictions/m": torchserve,
}


def serve(sock, tls):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        c = Connection(tls.wrap_socket(sock, server_side=True) if tls else sock)
        while True:
            _, path, c.last, body = c.request()
            where = urllib.parse.urlsplit(path)
            query = dict(urllib.parse.parse_qsl(where.query))
            if where.path == "/counts":
                c.reply(json.dumps(counts))
            else:
                ROUTES[where.path](c, query, body)
    except (Gone, OSError, KeyError, ValueError):
        pass
    finally:
        try:
            c.file.close()
            c.sock.close()
        except (OSError, UnboundLocalError):
            pass
        sock.close()


def main():
    tls = None
    if len(sys.argv) > 1:
        import ssl

        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(sys.argv[1], sys.argv[2])
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    print(listener.getsockname()[1], flush=True)

    def accept():
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=serve, args=(sock, tls), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    sys.stdin.read()


main()
