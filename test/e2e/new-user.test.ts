/**
 * The way of a new user after `./setup --link`, typed into terminals of 80 × 24 with a shell: what an agent lacks, its key, the agent at
 * work, leaving it and coming back from another terminal, the review, and the end. Claude is the real one; its model is scripted.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { Installation } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { createRootlessAccount } from '../harness/rootless.ts';
import { runEnv } from '../harness/run.ts';
import { Terminal } from '../harness/terminal.ts';
import { fences } from '../shown-commands.ts';

const key = 'sk-ant-real-0123456789';
/** The command as the README shows it. */
const claude = fences(readFileSync('README.md', 'utf8'))
  .find(({ text }) => /^carrel claude/.test(text))!
  .text.trim();

/** The model writes a file with the tool that claude offers, and then answers. */
function writes({ tools = [] }: Question, said: number): Turn {
  if (said > 0) return [{ text: 'It is written.' }];
  const tool = tools.find(({ name }) => /^bash$/i.test(name))?.name ?? 'Bash';
  return [{ tool, input: { command: 'echo made > made.txt', description: 'Write a file' } }];
}

describe.each(isRealRoot ? ['root', 'an ordinary user'] : ['an ordinary user'])('as %s', (who) => {
  const account = isRealRoot && who !== 'root' ? createRootlessAccount() : null;
  const carrel = new Installation(account);
  const project = carrel.folder('project');
  let model: ScriptedModel;
  const windows: Terminal[] = [];

  beforeAll(async () => {
    carrel.write('project/README', 'A project.\n');
    carrel.write('home/.gitconfig', '[user]\n\tname = Ada\n\temail = ada@example.org\n');
    model = await ScriptedModel.open(writes, { wants: { header: 'x-api-key', value: key } });
  });
  afterAll(async () => {
    for (const window of windows) window.kill();
    await carrel.dispose();
    await model.dispose();
    account?.dispose();
  });

  /** Opens a terminal with a shell in the project. */
  async function open(): Promise<Terminal> {
    const shell = ['/bin/sh', '-i'];
    const PATH = [dirname(carrel.program), dirname(process.execPath), '/usr/bin', '/bin'].join(':');
    const env = { HOME: carrel.home, CARREL_HOME: carrel.home, PATH, PS1: 'you> ', ...runEnv() };
    const window = new Terminal(account?.wrap(shell) ?? shell, { cwd: project, env });
    windows.push(window);
    await window.shows(/^you>\s*$/);
    return window;
  }

  let count = 0;

  /** Types a command, and waits until the shell is back. */
  async function enter(window: Terminal, command: string): Promise<string> {
    count += 1;
    window.type(`clear; ${command}; echo did ${count}\r`);
    await window.shows(new RegExp(`^did ${count}\\s+you>\\s*$`, 'm'));
    return window.shown;
  }

  it('the first hour works as the README says', async () => {
    const first = await open();
    const lacking = await enter(first, claude);
    expect(lacking).toMatch(/claude cannot start yet without its program and its key$/m);
    expect(lacking).toMatch(/^ {2}hint: install its program: +carrel agent install claude$/m);
    expect(lacking).toMatch(/^ {8}enter its key: +carrel secret set ANTHROPIC_API_KEY$/m);
    // The home of this user has no login of claude.
    expect(lacking).not.toMatch(/agent login/);

    await enter(first, `export PATH="${resolve('node_modules/.bin')}:$PATH"`);
    first.type('clear; carrel secret set ANTHROPIC_API_KEY\r');
    await first.shows(/^Value of ANTHROPIC_API_KEY, not shown:/m);
    first.type(`${key}\r`);
    await first.shows(/^ANTHROPIC_API_KEY\s+you>\s*$/m);
    const gateway = `--preset anthropic --host http://127.0.0.1:${model.port} --secret ANTHROPIC_API_KEY`;
    expect(await enter(first, `carrel credential add model ${gateway}`)).toMatch(/^model$/m);

    first.type(`clear; ${claude}\r`);
    await first.shows(/bypass permissions on/);
    expect(first.shown).not.toMatch(/theme|trust|api key/i);
    first.type('Write a file.');
    await first.shows(/Write a file\./);
    first.type('\r');
    await first.shows(/It is written\./);
    first.type('\x10\x11');
    await first.shows(/detached; project-claude goes on; come back with: carrel claude \.\s*you>\s*$/);

    const second = await open();
    second.type(`clear; ${claude}\r`);
    await second.shows(/It is written\..*bypass permissions on/s);
    second.kill();
    await second.ended;

    expect(await enter(first, 'carrel ls')).toMatch(/^project-claude +running .* claude +\d+\w +-$/m);
    expect(await enter(first, 'carrel exec project-claude git var GIT_AUTHOR_IDENT')).toMatch(
      /^Ada <ada@example\.org>/m,
    );
    expect(await enter(first, 'carrel diff project-claude')).toMatch(/\+\+\+ b\/made\.txt[\s\S]*\+made/);
    first.type('clear; carrel apply -p project-claude\r');
    await first.shows(/Take this addition \[y,n,q,a,d,p,\?\]\?/);
    first.type('y\r');
    await first.shows(/carrel undo project-claude takes it back\s*you>\s*$/);
    expect(await enter(first, 'cat made.txt')).toMatch(/^made$/m);
    expect(await enter(first, 'carrel undo project-claude')).toMatch(/took 1 change of project-claude back/);
    expect(await enter(first, 'ls')).not.toMatch(/made/);
    expect(await enter(first, 'carrel rm --force project-claude')).toMatch(/^project-claude$/m);
    expect(await enter(first, 'carrel down --all')).toMatch(/the daemon has ended/);
    first.type('exit\r');
    expect(await first.ended).toBe(0);
    expect(windows.map(({ text }) => text).join('')).not.toContain(key);
  }, 120_000);
});
