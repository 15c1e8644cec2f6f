import { describe, expect, it } from 'vitest';
import { withAdditions } from './addition.ts';
import type { ConfigAddition } from './mcp.ts';

const value = (name: string, content: unknown): ConfigAddition => ({
  ...{ kind: 'value', path: ['mcpServers', name], value: content },
});
const item = (text: string): ConfigAddition => ({ kind: 'item', path: ['enabled'], value: text });
const table = (name: string, command: string): ConfigAddition => ({
  ...{ kind: 'table', path: ['mcp_servers', name], value: `[mcp_servers.${name}]\ncommand = "${command}"\n` },
});

describe('JSON', () => {
  const own = '// mine\n{\n  "theme": "dark", // keep\n  "mcpServers": {\n    "own": { "command": "own" },\n  },\n}\n';

  it('keeps comments and unknown keys; removing all additions restores the text except for white space', () => {
    const first = withAdditions(own, [], [value('memory', { command: 'm' })]);
    expect(first.text).toContain('// keep');
    expect(first.text).toMatch(/"own": \{\s*"command": "own"\s*\}/);
    expect(first.text).toContain('"memory"');
    const second = withAdditions(first.text, first.added, []);
    expect(second.text.replaceAll(/[\s,]/g, '')).toBe(own.replaceAll(/[\s,]/g, ''));
    expect(second.added).toEqual([]);
  });

  it('changes its own entries, and leaves entries that a person wrote or changed', () => {
    const first = withAdditions('', [], [value('memory', { command: 'old' }), value('rooms', { command: 'r' })]);
    const edited = first.text.replace('"r"', '"changed by hand"');
    const second = withAdditions(edited, first.added, [value('memory', { command: 'new' })]);
    expect(JSON.parse(second.text)).toEqual({
      mcpServers: { memory: { command: 'new' }, rooms: { command: 'changed by hand' } },
    });
    const third = withAdditions(
      '{"mcpServers":{"memory":{"command":"mine"}}}',
      [],
      [value('memory', { command: 'x' })],
    );
    expect(third).toEqual({ text: '{"mcpServers":{"memory":{"command":"mine"}}}', added: [] });
    expect(withAdditions(third.text, third.added, []).text).toBe(third.text);
  });

  it('adds to lists, and removes only its own items', () => {
    const first = withAdditions('{"enabled": ["own"]}', [], [item('a'), item('own')]);
    expect(JSON.parse(first.text)).toEqual({ enabled: ['own', 'a'] });
    expect(first.added).toEqual([item('a')]);
    expect(JSON.parse(withAdditions(first.text, first.added, []).text)).toEqual({ enabled: ['own'] });
    expect(JSON.parse(withAdditions('', [], [item('a')]).text)).toEqual({ enabled: ['a'] });
  });

  it.each(['[1]', '{', '"x"', '{"a":1}}'])('refuses to change %s', (text) => {
    expect(() => withAdditions(text, [], [value('memory', {})])).toThrow();
  });
});

describe('TOML', () => {
  const own = '# mine\nmodel = "gpt-5" # keep\n\n[mcp_servers.own]\ncommand = """\n[mcp_servers.memory]\n"""\n';

  it('keeps comments, unknown keys and strings that look like tables', () => {
    const first = withAdditions(own, [], [table('memory', 'm'), table('rooms', 'r')]);
    expect(first.text).toBe(`${own}\n[mcp_servers.memory]\ncommand = "m"\n\n[mcp_servers.rooms]\ncommand = "r"\n`);
    const second = withAdditions(first.text, first.added, [table('rooms', 'new')]);
    expect(second.text.trimEnd()).toBe(`${own}\n\n[mcp_servers.rooms]\ncommand = "new"`);
    expect(withAdditions(second.text, second.added, []).text.trimEnd()).toBe(own.trimEnd());
  });

  it('leaves a table that a person changed', () => {
    const first = withAdditions('', [], [table('memory', 'm')]);
    const edited = `${first.text}enabled = false\n`;
    expect(withAdditions(edited, first.added, []).text).toBe(edited);
    expect(withAdditions(edited, first.added, [table('memory', 'new')])).toEqual({ text: edited, added: [] });
  });

  it('refuses a file whose servers are an inline table', () => {
    expect(() => withAdditions('mcp_servers = { memory = {} }\n', [], [table('memory', 'm')])).toThrow('form');
  });
});
