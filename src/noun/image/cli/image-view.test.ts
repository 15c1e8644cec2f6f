import { expect, test } from 'vitest';
import type { ImageView } from '../api.ts';
import { imageListing } from './commands.ts';
import { stepLine } from './image.ts';

test('each build step is one line with an aligned number', () => {
  const step = { kind: 'step', number: 3, total: 12, title: 'RUN  a\tb' } as const;
  expect(stepLine(step)).toBe(' 3/12 RUN a b');
  expect(stepLine({ ...step, title: 'x'.repeat(200) })).toHaveLength(' 3/12 '.length + 100);
});

test('images are listed with source, id, state and project', () => {
  const made: ImageView = {
    ...{
      name: 'carrel-sandbox-shop',
      source: 'project',
      id: `sha256:${'a'.repeat(64)}`,
      project: '/shop\u001b',
      checksum: 'c',
    },
    ...{ at: '2026-01-01T00:00:00Z', state: 'ready', sizeBytes: 3 * 1024 ** 2 },
  };
  const listed: ImageView = {
    ...made,
    name: 'debian:13',
    source: 'listed',
    id: null,
    project: null,
    at: null,
    sizeBytes: null,
  };
  expect(imageListing([made, listed], Date.parse('2026-01-01T00:01:00Z'))).toEqual([
    'NAME                 SOURCE   ID                   STATE  SIZE  AGE  PROJECT',
    'carrel-sandbox-shop  project  sha256:aaaaaaaaaaaa  ready  3.0M  1m   /shop\\u001b',
    'debian:13            listed   -                    ready  -     -    -',
  ]);
});
