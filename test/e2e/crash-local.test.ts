// @takes 40 s
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localTestbed } from '../harness/crash-testbed.ts';
import { Installation, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { groupsOf } from '../harness/traces.ts';
import { crashes } from './crash.ts';

let carrel: Installation;

describe('a daemon that is killed, with the local engine', () =>
  crashes(localTestbed, {
    create: [
      ...['start:prepared', 'start:noted', 'start:let-go', 'start:staged', 'start:created'],
      ...['start:begun', 'start:started', 'after:start'],
    ],
    stop: ['after:stop', 'conclude:recorded', 'after:conclude'],
    startAgain: ['after:clear', 'after:renew', 'start:created', 'after:start'],
    remove: ['after:stop', 'after:conclude', 'after:clear', 'forget:folder', 'after:forget'],
    starved: 'oom',
  }));

describe.runIf(isRealRoot)('the home was removed under a running sandbox', () => {
  beforeEach(() => {
    carrel = new Installation();
  });
  afterEach(() => carrel.dispose());

  it('the next daemon ends the processes that its groups still hold', async () => {
    await carrel.ok('create', '--name', 'box');
    const { id } = await carrel.show('box');
    await carrel.killDaemon();
    carrel.removeDatabase();
    for (const name of ['run', 'state']) rmSync(join(carrel.home, 'engine', name), { recursive: true });
    expect(await carrel.list()).toEqual([]);
    await until(() => groupsOf(id).length === 0, 'its group to be freed');
  });
});

describe('commands at the same time', () => {
  beforeEach(() => {
    carrel = new Installation();
  });
  afterEach(() => carrel.dispose());

  it('create one sandbox for one name, and the others get conflict', async () => {
    await carrel.ok('up', '-d');
    const outcomes = await Promise.all([1, 2].map(() => carrel.run(['create', '--name', 'box'])));
    expect(outcomes.map(({ exitCode }) => exitCode).sort()).toEqual([0, 6]);
    expect(await carrel.list()).toHaveLength(1);
  });

  it('remove one sandbox together, and none gets conflict', async () => {
    await carrel.ok('create', '--name', 'box');
    await carrel.ok('stop', '--grace', '0', 'box');
    const outcomes = await Promise.all([1, 2, 3].map(() => carrel.run(['rm', 'box'])));
    for (const { exitCode, stderr } of outcomes) expect([0, 5], stderr).toContain(exitCode);
    expect(await carrel.list()).toEqual([]);
  });

  it('start one daemon, which answers all of them', async () => {
    const outcomes = await Promise.all([1, 2, 3].map(() => carrel.run(['ls'])));
    expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });
});
