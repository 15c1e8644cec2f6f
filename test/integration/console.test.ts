/** The console of a process that a keeper holds, with a keeper of the test's own at the other end. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { attachConsole } from '../../src/kernel/engine/local/console.ts';

/** Answers to the first input without reading it, and closes. */
const keeper = `
import os, socket
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind('attach'); server.listen()
print('ready', flush=True)
console = server.accept()[0]
console.recv(1, socket.MSG_PEEK)
for n in range(3): console.send(b'\\x02%d' % n)
console.close()
os.close(os.open('closed', os.O_CREAT))
`;

test('a console delivers the output that was written before the keeper ended with unread input', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-console-'));
  const child = spawn('/usr/bin/python3', ['-c', keeper], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    const console = attachConsole(folder);
    console.stdin.write('unread');
    // Nothing is read here before the other end is closed.
    spawnSync('sh', ['-c', 'until [ -e closed ]; do sleep 0.01; done'], { cwd: folder, timeout: 10_000 });
    expect(await text(console.stdout)).toBe('012');
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});
