/** What an older build started continues after the upgrade: a sandbox with its network, a session and a swarm. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation, until } from '../harness/installation.ts';
import { buildOlder } from '../harness/older-build.ts';
import { problemsOf, Talk } from '../harness/session.ts';
import { hasEnded, knowScripted, SwarmProject, workMs } from '../harness/swarm.ts';

let carrel: Installation;
let talk: Talk;
let swarm: SwarmProject;
let tools: string;
const mounted = ['exec', 'talk', '--', 'sh', '-c', 'ls /opt/carrel/bin/lib; cat /opt/carrel/bin/carrel-agent-api'];

/** The older build starts everything; then this one replaces its daemon while all of it runs. */
beforeAll(async () => {
  carrel = new Installation();
  knowScripted(carrel);
  const here = carrel.program;
  carrel.program = buildOlder('0.1.0', join(carrel.folder('older'), 'carrel'));
  await carrel.ok('up', '-d');
  await carrel.ok(
    'create',
    '--name',
    'plain',
    '--network',
    'allowed.test',
    '--',
    'sh',
    '-c',
    'until [ -e /tmp/end ]; do sleep 0.1; done; exit 7',
  );
  const project = carrel.folder('project');
  mkdirSync(join(project, 'src'));
  const body = { project, agent: 'demo', name: 'talk' };
  talk = new Talk(carrel, await carrel.client.call('POST /v1/sessions', { body }));
  await talk.say('say before');
  const [first, second] = ['one', 'two'].map((word) => `append both.txt ${word}\nsay done`) as [string, string];
  swarm = new SwarmProject(carrel, 'swarm', { both: [first, `wait /tmp/go\n${second}`] });
  await swarm.swarm('run', '--all', '--agent', 'scripted', '--detach');
  await swarm.until('the second story', ({ containers: [one] }) => one?.stories[1]?.status === 'in_progress');
  await talk.prompt('wait 3');
  tools = await carrel.ok(...mounted);
  await carrel.ok('down');
  carrel.program = here;
  await carrel.list();
}, 120_000);
afterAll(() => carrel.dispose());

it('the network of the sandbox follows changes of its rules', async () => {
  const request = ['exec', 'plain', '--', 'curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://later.test/'];
  const status = async () => (await carrel.run(request)).stdout;
  // A proxy of another build exits, and for a moment none listens. It refuses a host without a rule.
  await until(async () => (await status()) === '403', 'the proxy of this build');
  await carrel.ok('net', 'allow', 'plain', 'later.test');
  // With a rule it looks the host up, and there is none of this name.
  expect(await status()).toBe('502');
});

it('a sandbox runs on with the tools of the build that started it, and its exit code arrives', async () => {
  expect(tools).toContain('agent');
  expect(await carrel.ok(...mounted)).toBe(tools);
  await carrel.ok('exec', 'plain', '--', 'touch', '/tmp/end');
  await carrel.run(['wait', 'plain']);
  expect(await carrel.show('plain')).toMatchObject({ state: 'failed', exitCode: 7 });
});

it('a session ends its turn, answers the next prompt, and has every event once', async () => {
  await talk.until('idle');
  await talk.say('say after');
  const texts = (await talk.messages()).flatMap(({ role, parts }) =>
    role === 'assistant' ? [parts.map((part) => part.text ?? '').join('')] : [],
  );
  expect(texts).toEqual(['before', expect.stringMatching(/^Waiting\.+ done\.$/), 'after']);
  const events = await talk.events();
  expect(problemsOf(events)).toEqual([]);
  expect(events).toEqual(await talk.inside());
});

it(
  'a swarm completes the story under way and those after it',
  async () => {
    await carrel.ok('exec', 'both', '--', 'touch', '/tmp/go');
    const { containers } = await swarm.until('the end of the swarm', hasEnded);
    expect(containers.map(({ status }) => status)).toEqual(['completed']);
    expect(swarm.statuses('both')).toEqual(['completed', 'completed']);
    expect(swarm.landed('both')).toEqual(['US-001', 'US-002']);
  },
  workMs,
);

it('the sandbox gets the tools of this build with its next start, and the session continues there', async () => {
  await carrel.ok('stop', '--grace', '0', 'talk');
  await carrel.ok('start', 'talk');
  expect(await carrel.ok(...mounted)).not.toBe(tools);
  await talk.say('say again');
  await until(async () => JSON.stringify(await talk.messages()).includes('"again"'), 'the answer of the new program');
});
