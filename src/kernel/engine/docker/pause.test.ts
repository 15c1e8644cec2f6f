import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import type { Connection } from './connection/connection.ts';
import { DockerPauses } from './pause.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-pauses-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

it('a pause whose engine went away does not block, and ends at the next inspection', async () => {
  let isAway = false;
  const ask = async () => {
    if (isAway) throw new Fault('unavailable', 'no answer');
  };
  const pauses = new DockerPauses({ ask } as unknown as Connection, folder);
  await pauses.begin('one', 'container', async () => {});
  const over = pauses.over('one');
  isAway = true;
  await expect(pauses.end('one', 'container')).rejects.toMatchObject({ code: 'unavailable' });
  await over;
  expect([pauses.over('one'), pauses.isAbandoned('one')]).toEqual([null, true]);
  isAway = false;
  await pauses.end('one', 'container');
  expect(pauses.isAbandoned('one')).toBe(false);
});
