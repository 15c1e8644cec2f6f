// @takes 30 s
/** Commands of a sandbox on a terminal, through the real CLI on a pseudo-terminal, on both engines. */
import { resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedModel } from '../fixtures/scripted-model.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { Installation, type SandboxView, until } from '../harness/installation.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';

/** A full-screen program: it draws on the alternate screen, reads raw keys, and draws again when the size changes. */
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

/** Mouse reports of two kinds, and a paste of several lines with a control character. */
const [click, pasted] = ['\x1b[<0;10;5M\x1b[<0;10;5m', '\x1b[200~one\rtwo\n\x10three\x1b[201~'];
const modes = ['1002', '1006', '2004'];
/**
 * A program that switches on mouse and paste modes, hides the cursor, prints the bytes that it reads, and keeps
 * running.
 */
const mouse = `
stty raw -echo; printf '\\033[?${modes.join(';')}h\\033[?25lready\\r\\n'
head -c ${click.length + pasted.length} | od -An -v -tx1 | tr -d ' \\n'; printf ' end\\r\\n'; sleep 1000`;

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

  it('the mouse and a paste of several lines reach the program unchanged, and a terminal that detaches has both modes off', async () => {
    expect(await on(['create', '--name', 'a', ...options, '--', 'sh', '-c', mouse]).ended).toBe(0);
    const first = on(['attach', 'a']);
    await first.has(/ready/);
    first.type(click + pasted);
    await first.has(new RegExp(`${Buffer.from(click + pasted).toString('hex')} end`));
    // A terminal that attaches later gets the same modes.
    const second = on(['attach', 'a']);
    await second.shows(/ready.*end/s);
    for (const mode of modes) expect(second.text).toMatch(new RegExp(`\\x1b\\[\\?${mode}h`));
    first.type('\x10\x11');
    expect(await first.ended).toBe(0);
    expect(leftOn(first)).toEqual([]);
    // The program dies as if the kernel killed it for its memory.
    await carrel.ok('stop', '--grace', '0', 'a');
    await second.ended;
    expect(leftOn(second)).toEqual([]);
  });

  it('with several viewers the program has the size of the viewer that typed last', async () => {
    await on(['create', '--name', 'a', ...options, '--', 'sh', '-c', fullScreen]).ended;
    const small = on(['attach', 'a']);
    await drawn(small, '24 80');
    const large = carrelOn(carrel.home, ['attach', 'a'], { rows: 50, columns: 132 });
    await drawn(large, '50 132');
    const seen = small.text.length;
    await drawn(small, '24 80', seen);
    large.kill();
    await large.ended;
    small.type('q');
    expect(await small.ended).toBe(4);
  });

  it('create gives its command a terminal, attach joins it, and Ctrl-P Ctrl-Q detaches', async () => {
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

it('an agent works in a container, and its screen is shown again after a detach', async () => {
  const project = carrel.folder('project');
  const model = await ScriptedModel.open([[{ text: 'It is well.' }]], {
    wants: { header: 'x-api-key', value: 'real' },
  });
  await carrel.run(['secret', 'set', 'KEY'], { input: 'real' });
  const gateway = ['--preset', 'anthropic', '--host', `http://127.0.0.1:${model.port}`, '--secret', 'KEY'];
  await carrel.ok('credential', 'add', 'model', ...gateway);
  const env = { PATH: [resolve('node_modules/.bin'), process.env.PATH].join(':') };
  const open = (...args: string[]) => carrelOn(carrel.home, ['claude', project, ...args], { env });
  const first = open('--engine', 'docker');
  await first.shows(/bypass permissions on/);
  first.type('How is it?');
  await first.shows(/How is it\?/);
  first.type('\r');
  await first.shows(/It is well\./);
  first.type('\x10\x11');
  expect(await first.ended).toBe(0);
  expect(await carrel.json<SandboxView>('show', 'project-claude')).toMatchObject({
    engine: 'docker',
    state: 'running',
  });
  const again = open();
  await again.shows(/It is well\..*bypass permissions on/s);
  again.kill();
  await again.ended;
  await model.dispose();
}, 90_000);

it('a terminal is reset when the daemon is killed, and the command in the hint shows the screen again', async () => {
  await on(['create', '--name', 'a', '--engine', 'local', '--', 'sh', '-c', mouse]).ended;
  const terminal = on(['attach', 'a']);
  await terminal.shows(/ready/);
  await carrel.killDaemon();
  expect(await terminal.ended).toBe(75);
  expect(leftOn(terminal)).toEqual([]);
  expect(terminal.shown).toMatch(/^carrel: the connection to the daemon was lost.*\n +hint: .*: carrel attach a$/m);
  const again = on(['attach', 'a']);
  await again.shows(/ready/);
  again.kill();
  await again.ended;
});

it.each([
  [['-T'], 'pipe'],
  [['-t'], 'terminal'],
  [['-it'], 'terminal'],
  [['-i', '-t'], 'terminal'],
])('%j gives the command a %s, whether or not carrel itself has a terminal', async (flags, expected) => {
  const tell = ['sh', '-c', 'if [ -t 0 ] && [ -t 1 ]; then echo terminal; else echo pipe; fi'];
  await carrel.ok('create', '--name', 'b');
  expect(await carrel.ok('run', ...flags, '--', ...tell)).toMatch(expected);
  for (const args of [['run'], ['exec', 'b']]) {
    const terminal = on([...args, ...flags, '--', ...tell]);
    expect([await terminal.ended, terminal.text.trim()]).toEqual([0, expect.stringContaining(expected)]);
  }
});

/**
 * Waits until the program draws this size. The shell notices a new size after the next key, and a Docker Engine may
 * report the first one late.
 */
async function drawn(terminal: Terminal, size: string, after = 0): Promise<void> {
  const keys = () => terminal.text.split('key .').length;
  await terminal.has(/drawn/);
  while (!terminal.text.slice(after).includes(`drawn ${size}\r\n`)) {
    const before = keys();
    terminal.type('.');
    await until(() => keys() > before, 'the key to be read');
  }
}

/** The modes that are on at the end of this terminal's output. */
function leftOn({ text }: Terminal): string[] {
  const isOn = (mode: string) => text.lastIndexOf(`\x1b[?${mode}h`) > text.lastIndexOf(`\x1b[?${mode}l`);
  return [...modes.filter(isOn), ...(isOn('25') ? [] : ['hidden cursor'])];
}

/** Counts the processes of sandbox `a` with this command line. */
async function inside(command: string): Promise<number> {
  const { stdout } = await carrel.run(['exec', '-T', 'a', '--', 'sh', '-c', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "']);
  return stdout.split(command).length - 1;
}
