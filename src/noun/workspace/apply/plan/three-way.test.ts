import { describe, expect, it } from 'vitest';
import type { Entry } from '../../model/change.ts';
import { decide, mergeModes } from './three-way.ts';

/** Stands for a file with this content. */
interface Side extends Entry {
  readonly bytes?: string;
}
const file = (bytes: string, mode = 0o644): Side => ({
  type: 'file',
  mode,
  sizeBytes: bytes.length,
  target: null,
  bytes,
});
const folder = (mode = 0o755): Side => ({ type: 'folder', mode, sizeBytes: 0, target: null });
const link = (target: string): Side => ({ type: 'link', mode: 0, sizeBytes: 0, target });
const fifo: Side = { type: 'fifo', mode: 0o644, sizeBytes: 0, target: null };

function verdict(base: Side | null, agent: Side | null, project: Side | null, baseKnown = true) {
  const decision = decide(
    { base, agent, project, baseKnown },
    {
      projectIsBase: () => project?.bytes === base?.bytes,
      projectIsAgent: () => project?.bytes === agent?.bytes,
      agentIsBase: () => agent?.bytes === base?.bytes,
    },
  );
  if (decision.verdict === 'merge') return `merge ${decision.content} ${decision.mode.toString(8)}`;
  return decision.verdict === 'conflict' && decision.markers ? 'conflict with markers' : decision.verdict;
}

describe('one change from three sides', () => {
  it.each<[string, Side | null, Side | null, Side | null, string]>([
    ['only the agent changed it', file('b'), file('t'), file('b'), 'take'],
    ['only the agent added it', null, file('t'), null, 'take'],
    ['only the agent deleted it', file('b'), null, file('b'), 'take'],
    ['only the agent retyped it', file('b'), link('x'), file('b'), 'take'],
    ['both the same', file('b'), file('t'), file('t'), 'same'],
    ['both added the same', null, file('t'), file('t'), 'same'],
    ['both added the same, with other permissions', null, file('t', 0o644), file('t', 0o664), 'same'],
    ['both added the same, executable for one', null, file('t', 0o755), file('t'), 'conflict'],
    ['both deleted it', file('b'), null, null, 'same'],
    ['both changed it', file('b'), file('t'), file('o'), 'merge both 644'],
    ['one content, other mode', file('b'), file('t'), file('b', 0o755), 'merge agent 755'],
    ['one mode, other content', file('b'), file('b', 0o755), file('o'), 'merge project 755'],
    ['both content, one mode', file('b'), file('t', 0o755), file('o'), 'merge both 755'],
    ['both modes', file('b'), file('b', 0o755), file('b', 0o600), 'conflict'],
    ['both modes, alike to execute', file('b'), file('t', 0o640), file('b', 0o600), 'merge agent 600'],
    ['both added it differently', null, file('t'), file('o'), 'conflict with markers'],
    ['deleted and changed', file('b'), null, file('o'), 'conflict'],
    ['changed and deleted', file('b'), file('t'), null, 'conflict'],
    ['links', link('b'), link('t'), link('o'), 'conflict'],
    ['file and link', file('b'), file('t'), link('o'), 'conflict'],
    ['a folder both have', null, folder(0o700), folder(), 'same'],
    ['a folder in place of a file', null, folder(), file('o'), 'conflict'],
    ['a folder changed its mode', folder(), folder(0o700), folder(), 'take'],
    ['a folder changed its mode twice', folder(), folder(0o700), folder(0o750), 'same'],
    ['a folder that is gone changed its mode', folder(), folder(0o700), null, 'same'],
    ['a file deleted where the project has a folder now', file('b'), null, folder(), 'same'],
    ['a file made a folder, and deleted', file('b'), folder(), null, 'take'],
    ['a folder made a file, and deleted', folder(), file('t'), null, 'take'],
    ['a folder deleted, and made a file', folder(), null, file('o'), 'same'],
    ['a folder made a file by both', folder(), file('t'), file('o'), 'conflict with markers'],
    ['a folder to delete', folder(), null, folder(0o700), 'take'],
    ['a folder became a file, and is a link', folder(), file('t'), link('o'), 'conflict'],
    ['a FIFO from the agent', null, fifo, null, 'left'],
    ['a FIFO instead of a file', file('b'), fifo, file('b'), 'left'],
    ['a FIFO of the owner', fifo, null, fifo, 'left'],
  ])('%s', (_, base, agent, project, expected) => expect(verdict(base, agent, project)).toBe(expected));

  it.each<[string, Side | null, Side | null, Side | null, string]>([
    ['agent and project have the same', file('o'), file('t'), file('t'), 'same'],
    ['a file', file('o'), file('t'), file('o'), 'conflict'],
    ['a deletion', file('o'), null, file('o'), 'conflict'],
    ['an addition', null, file('t'), null, 'conflict'],
    ['a folder', folder(), folder(0o700), folder(), 'same'],
    ['a folder to delete', folder(), null, folder(), 'conflict'],
  ])('without a known base: %s', (_, base, agent, project, expected) =>
    expect(verdict(base, agent, project, false)).toBe(expected),
  );
});

it('mergeModes takes the mode that one side changed, and returns null if both changed it', () => {
  expect(mergeModes(0o644, 0o644, 0o600)).toBe(0o600);
  expect(mergeModes(0o644, 0o600, 0o644)).toBe(0o600);
  expect(mergeModes(0o644, 0o755, 0o700)).toBe(null);
});
