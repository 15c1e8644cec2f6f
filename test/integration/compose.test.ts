// @needs root
/**
 * The real docker-compose reads a rendered fleet as declared, and a real Docker Engine runs it with the declared
 * hardening.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { compose } from '../../src/extra/compose/compose.ts';
import { readYaml } from '../../src/lib/text/yaml.ts';
import { defaultLimits } from '../../src/model/limits.ts';
import { draft as drafted } from '../../src/noun/installation/cli/init/draft.ts';
import { declare } from '../../src/noun/project/fleet/declare.ts';
import { Dockerd, image } from '../harness/dockerd.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-compose-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function render(content: object): void {
  const context = { user: 'ann', volumePrefix: 'carrel', installation: 'i1', limits: defaultLimits };
  writeFileSync(join(folder, 'docker-compose.yml'), compose(declare({ name: 'shop', ...content }, folder), context));
}

/** The environment has variables that show whether docker-compose expands the text. */
function dockerCompose(args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const known = { PATH: process.env.PATH!, HOME: '/leaked', X: 'leaked', ...env };
  return execFileSync('docker-compose', args, { cwd: folder, env: known, encoding: 'utf8', stdio: 'pipe' });
}

interface Service {
  readonly environment: Record<string, string>;
  readonly entrypoint: string[];
  readonly volumes: { source: string; target: string }[];
}

it('the schema for editors accepts the file of init, and rejects files that carrel refuses', () => {
  const draft = readYaml(drafted({ name: 'shop', projects: [{ id: 'app', path: './app', traits: ['git'] }] }), 'f');
  const full = { ...(draft.content as object), network: ['example.org'], limits: { memory: '1g', cpus: 0.5 } };
  const wrong = [
    { nmae: 'x' },
    { name: 'A' },
    { sandboxes: { a: { privileged: true } } },
    { secrets: { KEY: 'value' } },
  ];
  const cases = [draft.content, full, ...wrong.map((change) => ({ ...full, ...change }))];
  const validate = [
    'import json, sys, jsonschema',
    'schema, cases = json.load(open(sys.argv[1])), json.load(sys.stdin)',
    'jsonschema.Draft7Validator.check_schema(schema)',
    'print(json.dumps([jsonschema.Draft7Validator(schema).is_valid(one) for one in cases]))',
  ].join('\n');
  const answer = execFileSync('python3', ['-c', validate, 'schema/carrel.schema.json'], {
    input: JSON.stringify(cases),
  });
  expect(JSON.parse(answer.toString())).toEqual([true, true, ...wrong.map(() => false)]);
});

it('docker-compose reads special characters of the declaration unchanged', () => {
  const odd = [
    '$HOME $\x7bX} $\x7bX:-y} $$X $\x7bX:?no} $(X) `X`',
    'a: b\n- c #d "e" \'f\' \\ \t',
    '"\nservices: {evil: {image: x, privileged: true}}\n#',
    'é 日本 \u0085 \u2028 \u202e',
    '{{.Name}} %s !!python/object:x &a *a ~ null on 1e3',
    '',
  ];
  const env = Object.fromEntries(odd.map((text, index) => [`V${index}`, text]));
  const paths = { plain: './a', odd: './$HOME $\x7bX}:ro, "q" \'s\' #é' };
  render({
    projects: paths,
    volumes: ['memory-bank', 'session'],
    secrets: ['KEY.a', 'on'],
    sandboxes: {
      on: { project: 'odd', env, command: odd, secrets: ['on', 'KEY.a'], volumes: ['session:/$HOME:ro'] },
      '123': { project: 'plain' },
      'a.b_c-d': {},
      null: {},
    },
  });
  // docker-compose doubles dollar signs again in what it prints.
  const printed = parse(dockerCompose(['config']), { version: '1.1' }) as { services: Record<string, Service> };
  const once = (text: string) => text.replaceAll('$$', '$');
  expect(Object.keys(printed.services).sort()).toEqual(['123', 'a.b_c-d', 'hub', 'null', 'on', 'prepare']);
  const { environment, entrypoint, volumes } = printed.services.on!;
  for (const [key, value] of Object.entries(env)) expect(once(environment[key]!)).toBe(value);
  expect(entrypoint.map(once)).toEqual(['/opt/carrel/bin/carrel-spoke', '--connect', '/workspace', '--', ...odd]);
  expect(volumes.map(({ source, target }) => once(`${source} at ${target}`))).toEqual([
    `${join(folder, paths.odd)} at /workspace`,
    expect.stringMatching(/^carrel-compose-hub-tools-[0-9a-f]{8}-shop at \/opt\/carrel$/),
    expect.stringMatching(/^carrel-compose-hub-token-[0-9a-f]{8}-shop-on at \/run\/carrel\/hub$/),
    expect.stringMatching(/^carrel-compose-home-[0-9a-f]{8}-shop-on at \/home\/agent$/),
    expect.stringMatching(/^carrel-compose-session-[0-9a-f]{8} at \/\$HOME$/),
  ]);
});

it('a composed service runs without privileges, on a read-only root with its mounts and secrets', async () => {
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets/KEY'), 'value');
  chownSync(join(folder, 'secrets/KEY'), 1000, 1000);
  chmodSync(folder, 0o755);
  const script = [
    'id -u',
    'grep -E "^(CapEff|CapBnd|NoNewPrivs):" /proc/self/status | tr -d "\\t"',
    'cat /run/secrets/KEY; echo',
    'touch /home/agent/a /memory/b /tmp/c && echo written',
    'touch /d 2>/dev/null || echo read-only',
    'ls /sys/class/net | tr "\\n" " "; echo',
    'echo "$DOLLAR"',
  ].join('\n');
  render({
    engine: 'docker',
    image,
    volumes: ['memory-bank'],
    secrets: ['KEY'],
    sandboxes: {
      box: {
        command: ['sh', '-c', script],
        env: { DOLLAR: '$HOME' },
        secrets: ['KEY'],
        volumes: ['memory-bank:/memory'],
        limits: { memory: '64m', pids: 20 },
      },
    },
  });
  const dockerd = await Dockerd.open();
  const env = { DOCKER_HOST: `unix://${dockerd.socketPath}` };
  try {
    dockerCompose(['--no-ansi', '-p', 'shop', 'up', '-d'], env);
    await dockerd.docker('wait', 'shop_box_1');
    expect((await dockerd.docker('logs', 'shop_box_1')).trim().split('\n')).toEqual([
      '1000',
      'CapEff:0000000000000000',
      'CapBnd:0000000000000000',
      'NoNewPrivs:1',
      'value',
      'written',
      'read-only',
      'lo ',
      '$HOME',
    ]);
  } finally {
    try {
      // This also removes what Docker made on this machine.
      dockerCompose(['--no-ansi', '-p', 'shop', 'down', '--volumes', '-t', '0'], env);
    } finally {
      await dockerd.dispose();
    }
  }
}, 120_000);
