// @needs root
/** Swarms whose Docker Engine is killed and started again, alone and together with kills of daemon and adapter. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SwarmExportView } from '../../src/noun/swarm/api.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { hasEnded, knowScripted, lines, SwarmProject, workMs } from '../harness/swarm.ts';
import { seed, survive } from '../harness/swarm-kill.ts';

let dockerd: Dockerd;
let carrel: Installation;

beforeAll(async () => {
  dockerd = await Dockerd.open();
  carrel = new Installation(null, dockerd);
  knowScripted(carrel);
});
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
});

it('a swarm that is resumed after a kill of the engine completes every story once', async () => {
  const [first, second] = lines('login', 2, 'wait /tmp/go\n') as [string, string];
  const project = new SwarmProject(carrel, 'project', { login: [first.replace(/wait.*\n/, ''), second] });
  const allowed = async () => {
    await carrel.run(['exec', 'login', '--', 'touch', '/tmp/go']);
    return hasEnded(await project.view());
  };
  await project.swarm('run', '--all', '--agent', 'scripted', '--engine', 'docker', '--detach');
  await project.until('the second story', ({ containers }) => containers[0]?.stories[1]?.status === 'in_progress');
  await dockerd.stop('SIGKILL');
  await dockerd.start();
  for (let tries = 0; tries < 5; tries++) {
    await until(allowed, 'it to end', workMs);
    if ((await project.view()).containers[0]!.status === 'completed') break;
    await project.swarm('resume', '--detach');
  }
  expect(project.wrong()).toEqual([]);
});

it('containers that scripts manage have the state that the engine reports', async () => {
  const project = new SwarmProject(carrel, 'scripts', {});
  const begin = async (...command: string[]) =>
    (await dockerd.docker('run', '--detach', '--network', 'none', image, ...command)).trim();
  await project.swarm('init');
  const ids = {
    lives: await begin('sleep', '1000'),
    held: await begin('sleep', '1000'),
    zero: await begin('true'),
    three: await begin('sh', '-c', 'exit 3'),
    gone: 'f'.repeat(64),
  };
  for (const [name, id] of Object.entries(ids)) {
    await project.swarm('add', id, name, `${name}.json`, `feat/${name}`);
    await project.swarm('update', name, '--status', 'running');
  }
  await dockerd.docker('pause', ids.held);
  await dockerd.docker('wait', ids.zero, ids.three);
  const { containers } = JSON.parse(await project.swarm('export')) as SwarmExportView;
  expect(containers.map(({ containerName, status, reason }) => `${containerName} ${status} ${reason}`)).toEqual([
    'lives running null',
    'held stopped null',
    'zero failed no_completion',
    'three failed AGENT_CRASH: ended with 3',
    'gone failed lost',
  ]);
  await dockerd.docker('rm', '--force', ids.lives, ids.held, ids.zero, ids.three);
  expect(await project.swarm('list')).toContain('lives\tfailed');
});

it('after kills of daemon, adapter and engine at random moments a resumed swarm completes every story once', async () => {
  const project = new SwarmProject(carrel, 'random', { one: lines('one', 3), two: lines('two', 3) });
  await project.swarm('run', '--all', '--agent', 'scripted', '--engine', 'docker', '--detach');
  const sandboxes = async () => {
    const ids = (await dockerd.docker('ps', '--quiet')).split('\n').filter(Boolean);
    const asked = ids.map((id) => dockerd.docker('inspect', '--format', '{{.State.Pid}}', id).catch(() => '0'));
    const inits = (await Promise.all(asked)).map(Number).filter((pid) => pid > 0);
    return inits.map((init) => ({ init, keeper: null }));
  };
  const restart = async () => {
    await dockerd.stop('SIGKILL');
    await dockerd.start();
  };
  await survive({ carrel, project, sandboxes, others: [restart] }, 5, 1500);
  expect([seed, project.wrong()]).toEqual([seed, []]);
});

it('a broken connection to a running agent is opened again, and no story fails', async () => {
  const lasting = await Dockerd.open(['--live-restore']);
  const other = new Installation(null, lasting);
  try {
    knowScripted(other);
    const project = new SwarmProject(other, 'line', { line: lines('line', 1, 'wait /tmp/go\n') });
    await project.swarm('run', '--all', '--agent', 'scripted', '--engine', 'docker', '--detach');
    await project.until('the story', ({ containers }) => containers[0]?.stories[0]?.status === 'in_progress');
    await lasting.stop();
    await lasting.start();
    await until(
      async () => (await other.run(['exec', 'line', '--', 'touch', '/tmp/go'])).exitCode === 0,
      'an answer',
      workMs,
    );
    const { containers } = await project.until('the end', hasEnded);
    expect(containers[0]).toMatchObject({ status: 'completed', attempt: 1 });
    expect(containers[0]!.errors[0]).toContain('ACP_CONNECTION_LOST');
    expect(project.wrong()).toEqual([]);
  } finally {
    // A dockerd that restarts with containers counts their volumes twice until it restarts without any.
    await lasting.stop();
    await lasting.start();
    await other.dispose().finally(() => lasting.dispose());
  }
});
