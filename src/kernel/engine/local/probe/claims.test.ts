import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { claimIds, parallelClaims, serialClaims } from './claims.ts';

it('the table of claims in SECURITY.md lists all claim ids in their order', () => {
  const text = readFileSync(new URL('../../../../../SECURITY.md', import.meta.url), 'utf8');
  const table = text.slice(text.indexOf('| id |'), text.indexOf('\n\n', text.indexOf('| id |')));
  expect([...table.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1])).toEqual(claimIds);
});

it('each claim has a script, except those that are tried from outside', () => {
  const outside = ['removal', 'copy', 'home'];
  const scripted = [...parallelClaims, ...serialClaims].map(({ id }) => id);
  expect([...scripted, ...outside].sort()).toEqual([...claimIds].sort());
});
