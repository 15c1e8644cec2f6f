import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ClientName, clientNames, type McpClient, mcpClients } from './client.ts';
import { install, isInstalled, settingsText } from './install.ts';
import { serverEntry } from './server-entry.ts';

const entry = { command: '/usr/bin/node', args: ['/opt/carrel/bin/carrel', 'hub', 'serve'] };
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-connect-'));
});
afterEach(() => rmSync(home, { recursive: true }));

function client(name: ClientName, before?: string): McpClient {
  const found = mcpClients({}, home).find((one) => one.name === name)!;
  if (before === undefined) return found;
  mkdirSync(join(found.file, '..'), { recursive: true });
  writeFileSync(found.file, before, { mode: 0o640 });
  return found;
}

const text = ({ file }: McpClient) => readFileSync(file, 'utf8');

it.each(clientNames)('%s gets the printed settings once, and a missing file gets no backup', (name) => {
  const found = client(name);
  expect(isInstalled(found)).toBe(false);
  expect(install(found, entry)).toEqual({ file: found.file, changed: true, backup: null });
  expect(text(found).trimEnd()).toBe(settingsText(found, entry));
  expect(statSync(found.file).mode & 0o777).toBe(0o600);
  expect(isInstalled(found)).toBe(true);
  expect(install(found, entry)).toEqual({ file: found.file, changed: false, backup: null });
  expect(readdirSync(join(found.file, '..')).filter((file) => /before|tmp/.test(file))).toEqual([]);
});

it('install keeps comments, other servers and other keys of JSON, and makes a backup', () => {
  const before =
    '{\n\t// mine\n\t"mcpServers": {\n\t\t"other": { "command": "x" }, // kept\n\t},\n\t"theme": "dark"\n}\n';
  const cursor = client('cursor', before);
  const { backup } = install(cursor, entry);
  expect(readFileSync(backup!, 'utf8')).toBe(before);
  expect(statSync(cursor.file).mode & 0o777).toBe(0o640);
  const after = text(cursor);
  for (const kept of ['// mine', '"command": "x"', '// kept', '"theme": "dark"']) expect(after).toContain(kept);
  expect(after).toContain('\t\t"carrel": {\n\t\t\t"type": "stdio"');
});

it('install replaces only its own entry when the command has changed', () => {
  const found = client('vscode', '{"servers": {"carrel": {"command": "old"}, "b": {"command": "c"}}}');
  install(found, entry);
  expect(JSON.parse(text(found))).toEqual({ servers: { carrel: { type: 'stdio', ...entry }, b: { command: 'c' } } });
});

it('install writes to the target of a symbolic link and keeps the link', () => {
  const real = join(home, 'dotfile');
  writeFileSync(real, '{}');
  const found = client('claude-code');
  symlinkSync(real, found.file);
  install(found, entry);
  expect(lstatSync(found.file).isSymbolicLink()).toBe(true);
  expect(readFileSync(real, 'utf8')).toContain('carrel');
});

describe('the TOML entry', () => {
  const own = settingsText(mcpClients({}, '/').at(-1)!, entry);

  it('is appended after everything else', () => {
    const before = 'model = "x" # mine\n[mcp_servers.other]\ncommand = "y"';
    const codex = client('codex', before);
    install(codex, entry);
    expect(text(codex)).toBe(`${before}\n\n${own}\n`);
  });

  it('is replaced in place with its subtables, and the comments around it stay', () => {
    const codex = client(
      'codex',
      'a = 1\n\n# ours\n[mcp_servers.carrel]\ncommand = "old"\nargs = [\n  "[x]",\n]\n\n[mcp_servers.carrel.env]\nA = "b"\n\n# next\n[mcp_servers.other] # kept\ncommand = "y"\n',
    );
    install(codex, entry);
    expect(text(codex)).toBe(`a = 1\n\n# ours\n${own}\n\n\n# next\n[mcp_servers.other] # kept\ncommand = "y"\n`);
    expect(install(codex, entry).changed).toBe(false);
  });

  it('is not searched in strings and arrays of several lines', () => {
    const before = [
      'prompt = """\n[mcp_servers.carrel]\ncommand = "\\"""\n"""',
      "literal = '''\n[mcp_servers.carrel]\n'''",
      'list = [\n  "a", # [mcp_servers.carrel]\n  [1, 2],\n]',
      '[projects."/x]"]\ntrust = "yes"\n',
    ].join('\n');
    const codex = client('codex', before);
    install(codex, entry);
    expect(text(codex)).toBe(`${before}\n${own}\n`);
  });

  it.each([
    ['mcp_servers = { other = { command = "y" } }\n', /mcp_servers/],
    ['mcp_servers.carrel.command = "y"\n', /mcp_servers/],
    ['[mcp_servers]\ncarrel = { command = "y" }\n', /carrel/],
    ['a = "x\n', /string has no end/],
    ['a = [1,\n', /bracket has no end/],
  ])('is refused, and the file unchanged, if it cannot be replaced safely: %j', (before, message) => {
    const codex = client('codex', before);
    expect(() => install(codex, entry)).toThrow(message);
    expect(text(codex)).toBe(before);
    expect(readdirSync(join(codex.file, '..'))).toEqual(['config.toml']);
  });
});

it.each(['{', '[]', '"x"', '{"mcpServers": []}', '{"mcpServers": null}'])(
  'JSON that is not valid settings is refused and not changed: %s',
  (before) => {
    const found = client('claude-code', before);
    expect(() => install(found, entry)).toThrow(found.file);
    expect(text(found)).toBe(before);
  },
);

describe('the command of the entry', () => {
  const context = { home: '/srv/carrel', user: 'bob' };

  it('has the paths of node and of the program, the home, the user and the options of hub serve', () => {
    const { command, args, env } = serverEntry(context, ['--project', 'a'], false, { PATH: '/bin' });
    expect(command).toBe(process.execPath);
    expect(args[0]).toMatch(/^\/.*\/bin\/carrel$/);
    expect(args.slice(1)).toEqual(['--home', '/srv/carrel', '--user', 'bob', 'hub', 'serve', '--project', 'a']);
    expect(env).toBeUndefined();
  });

  it('is carrel for clients of a terminal if PATH leads to this program and not to another one', () => {
    const [own, other] = [join(home, 'own'), join(home, 'other')];
    const { args } = serverEntry(context, [], false, {});
    for (const folder of [own, other]) mkdirSync(folder);
    symlinkSync(args[0]!, join(own, 'carrel'));
    writeFileSync(join(other, 'carrel'), '');
    expect(serverEntry(context, [], true, { PATH: own }).command).toBe('carrel');
    expect(serverEntry(context, [], true, { PATH: `${other}:${own}` }).command).toBe(process.execPath);
    expect(serverEntry(context, [], false, { PATH: own }).command).toBe(process.execPath);
  });

  it('passes on the socket and token file of a shared daemon, but never a token', () => {
    const env = { CARREL_SOCKET: '/s', CARREL_TOKEN_FILE: '/t', CARREL_TOKEN: 'secret' };
    expect(serverEntry(context, [], false, env).env).toEqual({ CARREL_SOCKET: '/s', CARREL_TOKEN_FILE: '/t' });
  });
});
