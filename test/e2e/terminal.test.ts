/** Commands of a sandbox on a terminal, through the real CLI on a pseudo-terminal, on both engines. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Dockerd, image } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';

/** A program that fills the screen: it draws on the other screen, reads keys raw, and draws again for a new size. */
const fullScreen = `
stty raw -echo; printf '\\033[?1049h'
interrupt=$(printf '\\003') suspend=$(printf '\\032') escape=$(printf '\\033')
draw() { printf 'drawn %s\\r\\n' "$(stty size)"; }
trap draw WINCH; draw
while key=$(dd bs=1 count=1 2>/dev/null); do
  case $key in q) break;; "$interrupt") key=^C;; "$suspend") key=^Z;; "$escape") key=ESC;; esac
  printf 'key %s\\r\\n' "$key"
done
printf '\\033[?1049l'; stty sane; exit 4`;

let dockerd: Dockerd;
let carrel: Installation;

beforeAll(async () => {
  dockerd = await Dockerd.open();
  carrel = new Installation();
  carrel.write('home/config.yaml', `docker: {socket: ${dockerd.socketPath}}\nimages: [${image}]\n`);
}, 120_000);
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
}, 120_000);
afterEach(() => carrel.clear());

const on = (args: readonly string[]): Terminal => carrelOn(carrel.home, args);

describe.each([
  ['local', ['--engine', 'local']],
  ['docker', ['--engine', 'docker', '--image', image]],
])('on %s', (_engine, options) => {
  it('run gives a shell a terminal: line editing, Ctrl-C, resize, and its exit code', async () => {
    const terminal = on(['run', '--name', 'a', ...options, '--', 'sh', '-i']);
    await terminal.has(/[$#] /);
    terminal.type('test -t 0 && test -t 2 && stty size && echo $TERM\r');
    await terminal.has(/\n24 80\r\nxterm\r\n/);
    terminal.type('sleep 100; echo not reached\r');
    await terminal.has(/not reached\r\n/);
    await until(async () => (await inside('sleep 100')) > 0, 'the command to run');
    terminal.type('\x03');
    await until(async () => (await inside('sleep 100')) === 0, 'Ctrl-C to end it');
    terminal.resize(40, 120);
    terminal.type('until [ "$(stty size)" = "40 120" ]; do sleep 0.02; done; echo re"sized"\r');
    await terminal.has(/resized\r\n/);
    terminal.type('exit 7\r');
    expect(await terminal.ended).toBe(7);
    expect(terminal.text).not.toMatch(/^not reached/m);
  });

  it('run and exec give full-screen programs every key and every size, and the terminal back', async () => {
    await carrel.ok('create', '--name', 'a', ...options);
    for (const args of [
      ['run', ...options, '--', 'sh', '-c', fullScreen],
      ['exec', 'a', '--', 'sh', '-c', fullScreen],
    ]) {
      const terminal = on(args);
      await drawn(terminal, '24 80');
      terminal.resize(50, 132);
      await drawn(terminal, '50 132');
      terminal.type('\x03\x1a\x1b');
      await terminal.has(/key \^C\r\nkey \^Z\r\nkey ESC\r\n/);
      terminal.type('q');
      expect(await terminal.ended).toBe(4);
    }
  });

  it('a large paste arrives whole', async () => {
    const script = 'stty -echo; echo ready; head -n 2000 | grep -c "^line [0-9]* of what is pasted$"';
    const terminal = on(['run', ...options, '--', 'sh', '-c', script]);
    await terminal.has(/ready/);
    terminal.type(Array.from({ length: 2000 }, (_, n) => `line ${n} of what is pasted\r`).join(''));
    expect(await terminal.ended).toBe(0);
    expect(terminal.text).toMatch(/^2000\r$/m);
  });

  it('create gives its command one, attach joins it, and Ctrl-P Ctrl-Q leaves it', async () => {
    const made = on(['create', '--name', 'a', ...options, '--', 'sh', '-i']);
    expect(await made.ended).toBe(0);
    for (const word of ['first', 'second']) {
      const terminal = on(['attach', 'a']);
      await terminal.has(/Ctrl-P Ctrl-Q/);
      terminal.type(`echo ${word} | tr a-z A-Z\r`);
      await terminal.has(new RegExp(word.toUpperCase()));
      terminal.type('\x10\x11');
      expect(await terminal.ended).toBe(0);
      expect(terminal.text).toMatch(/detached; a goes on/);
    }
    expect((await carrel.show('a')).state).toBe('running');
    const last = on(['attach', 'a']);
    await last.has(/Ctrl-P Ctrl-Q/);
    last.type('\x15exit 3\r');
    expect(await last.ended).toBe(3);
    expect(await carrel.ok('logs', 'a')).toContain('FIRST');
  });
});

it.each([
  [['-T'], 'pipe'],
  [['-t'], 'terminal'],
  [['-it'], 'terminal'],
  [['-i', '-t'], 'terminal'],
])('%j says whether there is a terminal, whatever this one is', async (flags, expected) => {
  const tell = ['sh', '-c', 'if [ -t 0 ] && [ -t 1 ]; then echo terminal; else echo pipe; fi'];
  await carrel.ok('create', '--name', 'b');
  expect(await carrel.ok('run', ...flags, '--', ...tell)).toMatch(expected);
  for (const args of [['run'], ['exec', 'b']]) {
    const terminal = on([...args, ...flags, '--', ...tell]);
    expect([await terminal.ended, terminal.text.trim()]).toEqual([0, expect.stringContaining(expected)]);
  }
});

/** A shell takes note of a new size after the next key; and a Docker Engine may tell the first one late. */
async function drawn(terminal: Terminal, size: string): Promise<void> {
  const keys = () => terminal.text.split('key .').length;
  await terminal.has(/drawn/);
  while (!terminal.text.includes(`drawn ${size}\r\n`)) {
    const before = keys();
    terminal.type('.');
    await until(() => keys() > before, 'the key to be read');
  }
}

/** How many processes of sandboxes have this command line. */
async function inside(command: string): Promise<number> {
  const { stdout } = await carrel.run(['exec', '-T', 'a', '--', 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "']);
  return stdout.split(command).length - 1;
}
