# A client that takes times: over TLS or in the clear, directly or through a proxy. Orders come as JSON, milliseconds go out as JSON.
import json, select, socket, ssl, sys, time

ORDER = json.loads(sys.argv[1])
HOST, PORT, PROXY = ORDER['host'], ORDER['port'], ORDER['proxy']
CONTEXT = ssl._create_unverified_context()


def now():
    return time.perf_counter() * 1000


def dial():
    """A connection to the server, through the proxy if there is one."""
    client = socket.create_connection(PROXY or (ORDER['address'], PORT))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if PROXY:
        client.sendall(f'CONNECT {HOST}:{PORT} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\n\r\n'.encode())
        answer = b''
        while b'\r\n\r\n' not in answer:
            answer += client.recv(4096)
        if b' 200 ' not in answer.split(b'\r\n')[0]:
            raise SystemExit(answer.decode())
    return client


def secure():
    return CONTEXT.wrap_socket(dial(), server_hostname=HOST)


def opened():
    return dial() if ORDER['plain'] else secure()


def ask(client, path):
    client.sendall(f'GET {path} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\n\r\n'.encode())


def requests():
    """One after another on one connection."""
    client, times = secure(), []
    for _ in range(ORDER['count']):
        begun = now()
        ask(client, '/small')
        answer = b''
        while not answer.endswith(b'small'):
            answer += client.recv(4096)
        times.append(now() - begun)
    return times


def connections():
    """One after another, up to where TLS begins."""
    times = []
    for _ in range(ORDER['count']):
        begun = now()
        dial().close()
        times.append(now() - begun)
    return times


def download():
    buffer = bytearray(1 << 20)
    client = opened()
    begun = now()
    ask(client, f'/bytes/{ORDER["bytes"]}')
    left = ORDER['bytes']
    while left > 0:
        got = client.recv_into(buffer)
        if got == 0:
            break
        left -= got
    return [now() - begun]


def upload():
    client, buffer = opened(), bytes(1 << 20)
    begun = now()
    head = f'POST /sink HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nContent-Length: {ORDER["bytes"]}\r\n\r\n'
    client.sendall(head.encode())
    for _ in range(ORDER['bytes'] // len(buffer)):
        client.sendall(buffer)
    client.recv(4096)
    return [now() - begun]


def events():
    """From the request to the first event that is sent."""
    times = []
    for _ in range(ORDER['count']):
        client = secure()
        begun = now()
        ask(client, '/events')
        client.recv(4096)
        times.append(now() - begun)
        client.close()
    return times


def streams():
    """Many at once: until each has had its last event."""
    clients = [secure() for _ in range(ORDER['count'])]
    begun = now()
    for client in clients:
        ask(client, '/events')
        client.setblocking(False)
    seen = {client: b'' for client in clients}
    poll = select.epoll()
    by_number = {client.fileno(): client for client in clients}
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    while by_number:
        for number, _ in poll.poll(20):
            client = by_number[number]
            try:
                while True:
                    chunk = client.recv(65536)
                    if not chunk:
                        raise SystemExit('a stream broke off')
                    seen[client] = (seen[client] + chunk)[-100:]
            except ssl.SSLWantReadError:
                pass
            if b'last' in seen[client]:
                poll.unregister(number)
                del by_number[number]
    return [now() - begun]


print(json.dumps(globals()[ORDER['what']]()))
