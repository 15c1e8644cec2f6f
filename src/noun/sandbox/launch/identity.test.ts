import { expect, it } from 'vitest';
import { gitSettings } from './identity.ts';

it('gitSettings quotes an author with quotes and backslashes for git', () => {
  expect(gitSettings({ name: 'Ada "the first" \\ Lovelace; #1', email: 'ada@example.org' })).toBe(
    [
      '[include]\n\tpath = /etc/gitconfig',
      '[user]\n\tname = "Ada \\"the first\\" \\\\ Lovelace; #1"\n\temail = "ada@example.org"\n',
    ].join('\n'),
  );
});
