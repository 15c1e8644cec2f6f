import { expect, it } from 'vitest';
import { terminalCommand } from './terminal-command.ts';

const spec = {
  command: ['tool', '--quiet'],
  options: [['--trust'], ['--url', '{BASE_URL}/v1']],
  files: [{ path: '.tool.json', set: { keys: ['{KEY:-4}', '{OTHER}'], on: true } }],
};

it('the command has the variables that are set, and leaves out options and settings with other variables', () => {
  const [, settings, ...rest] = terminalCommand(spec, '/opt/tool', ['go'], { KEY: '123456', BASE_URL: 'http://a' });
  expect(rest).toEqual(['/opt/tool', '--quiet', '--trust', '--url', 'http://a/v1', 'go']);
  expect(JSON.parse(settings!)).toEqual({
    files: [{ path: '.tool.json', set: { keys: ['3456'], on: true }, defaults: {} }],
  });
  expect(terminalCommand(spec, 'tool', [], {}).slice(2)).toEqual(['tool', '--quiet', '--trust']);
});
