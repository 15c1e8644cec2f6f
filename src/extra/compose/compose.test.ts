import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { defaultLimits } from '../../model/limits.ts';
import { declare } from '../../noun/project/fleet/declare.ts';
import { compose } from './compose.ts';
import { yamlLines } from './compose-text.ts';

const context = { user: 'ann', volumePrefix: 'carrel', installation: 'i1', limits: defaultLimits };
const render = (content: object) => compose(declare({ name: 'shop', ...content }, '/work'), context);

const fleet = {
  projects: { app: 'app', api: 'api', lib: 'lib' },
  volumes: ['memory-bank', 'base-plugins'],
  secrets: ['KEY'],
  limits: { memory: '1g' },
  sandboxes: {
    app: { project: 'app', secrets: ['KEY'], volumes: ['memory-bank:/data/memory-bank', 'base-plugins:/plugins'] },
    api: { project: 'api', engine: 'docker', image: 'python:3.11', runtime: 'sysbox-runc', command: ['pylsp'] },
    alone: {},
  },
};

type Service = Record<string, unknown> & {
  volumes: { type: string; source: string; target: string; read_only?: boolean }[];
};
interface Composed {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
  volumes: Record<string, { name: string }>;
  secrets: Record<string, { file: string }>;
}
const composed = parse(render(fleet)) as Composed;
const mounted = (name: string) => composed.services[name]!.volumes.map(({ source, target }) => `${source} ${target}`);

describe('hub and spokes', () => {
  it('a spoke has its own project and token, the hub no project and all tokens', () => {
    expect(mounted('hub')).toEqual([
      'carrel-compose-hub-home-49915e0d-shop /home/agent',
      'carrel-compose-hub-tools-49915e0d-shop /run/carrel/tools',
      'carrel-compose-hub-token-49915e0d-shop-app /run/carrel/spokes/app',
      'carrel-compose-hub-token-49915e0d-shop-api /run/carrel/spokes/api',
    ]);
    expect(mounted('app')).toEqual([
      '/work/app /workspace',
      'carrel-compose-hub-tools-49915e0d-shop /opt/carrel',
      'carrel-compose-hub-token-49915e0d-shop-app /run/carrel/hub',
      'carrel-compose-home-49915e0d-shop-app /home/agent',
      'carrel-compose-memory-bank-49915e0d /data/memory-bank',
      'carrel-compose-base-plugins /plugins',
    ]);
    expect(mounted('alone')).toEqual(['carrel-compose-home-49915e0d-shop-alone /home/agent']);
    const readonly = composed.services.app!.volumes.filter((one) => one.read_only).map(({ target }) => target);
    expect(readonly).toEqual(['/opt/carrel', '/run/carrel/hub', '/plugins']);
    expect(composed.services.hub).toMatchObject({
      image: 'carrel-hub:latest',
      environment: { CARREL_HUB_PROJECTS: 'app,api' },
      depends_on: { prepare: { condition: 'service_completed_successfully' } },
    });
    expect(composed.services.hub).not.toHaveProperty('entrypoint');
  });

  it('of several sandboxes of a project the first serves it; the others reach nothing', () => {
    const two = parse(
      render({ projects: { app: 'app' }, sandboxes: { a: { project: 'app' }, b: { project: 'app' } } }),
    ) as Composed;
    expect(two.services.hub!.environment).toMatchObject({ CARREL_HUB_PROJECTS: 'app' });
    expect(two.services.b).toMatchObject({ network_mode: 'none', entrypoint: ['sleep', 'infinity'] });
    expect(two.services.b!.volumes[0]).toMatchObject({ source: '/work/app', target: '/workspace' });
  });

  it('images that were built here have the same names as in the engine', () => {
    expect(composed.services.app).toMatchObject({ image: 'carrel-sandbox:base-i1' });
    expect(composed.services.api).toMatchObject({ image: 'python:3.11' });
  });

  it('a spoke shares an internal network with the hub only', () => {
    expect(composed.networks).toEqual({ front: {}, 'spoke-app': { internal: true }, 'spoke-api': { internal: true } });
    expect(composed.services.hub!.networks).toEqual({ front: {}, 'spoke-app': {}, 'spoke-api': {} });
    expect(composed.services.app!.networks).toEqual({ 'spoke-app': {} });
    expect(composed.services.alone).toMatchObject({ network_mode: 'none' });
    expect(composed.services.alone).not.toHaveProperty('networks');
    const published = Object.entries(composed.services).filter(([, service]) => 'ports' in service);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['hub', ['127.0.0.1:3000:3000']]]);
  });

  it('spokes have the variables of their project and wait for the hub', () => {
    expect(composed.services.app).toMatchObject({
      environment: {
        PROJECT_ID: 'app',
        CODEBUDDY_URL: 'ws://hub:3000/mcp',
        CODEBUDDY_TOKEN_FILE: '/run/carrel/hub/token',
        AGENT_CWD: '/workspace',
      },
      entrypoint: ['/opt/carrel/bin/carrel-spoke', '--connect', '/workspace'],
      depends_on: { hub: { condition: 'service_healthy' }, prepare: { condition: 'service_completed_successfully' } },
      working_dir: '/workspace',
    });
    expect(composed.services.api).toMatchObject({
      image: 'python:3.11',
      runtime: 'sysbox-runc',
      entrypoint: ['/opt/carrel/bin/carrel-spoke', '--connect', '/workspace', '--', 'pylsp'],
    });
  });

  it('every service is hardened; only prepare is root, with CHOWN and without a network', () => {
    const all = Object.entries(composed.services);
    for (const [, service] of all)
      expect(service).toMatchObject({
        init: true,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        ipc: 'private',
        pids_limit: 512,
        tmpfs: expect.arrayContaining([expect.stringMatching(/^\/tmp:rw,exec,nosuid,nodev,mode=1777,size=\d+$/)]),
      });
    expect(all.filter(([, { user }]) => user !== '1000:1000').map(([name]) => name)).toEqual(['prepare']);
    expect(all.filter(([, service]) => 'cap_add' in service).map(([name]) => name)).toEqual(['prepare']);
    expect(composed.services.prepare).toMatchObject({ cap_add: ['CHOWN'], network_mode: 'none' });
    expect(mounted('prepare').join()).not.toContain('base-plugins');
    expect(composed.services.app).toMatchObject({ mem_limit: 1024 ** 3, memswap_limit: 2 * 1024 ** 3, cpus: 2 });
    const text = render(fleet);
    for (const word of ['privileged', 'docker.sock', 'devices', 'pid:', 'network_mode: "host"', 'userns_mode'])
      expect(text).not.toContain(word);
  });

  it('secrets are files, and volumes have fixed names', () => {
    expect(composed.secrets).toEqual({ KEY: { file: './secrets/KEY' } });
    expect(composed.services.app!.secrets).toEqual([{ source: 'KEY', target: 'KEY' }]);
    expect(composed.services.api).not.toHaveProperty('secrets');
    for (const [key, { name }] of Object.entries(composed.volumes)) expect(name).toBe(key);
  });
});

it('the same fleet gives the same text, and a fleet without projects has no hub', () => {
  expect(render(fleet)).toBe(render(structuredClone(fleet)));
  const alone = parse(render({ sandboxes: { a: {} } })) as Composed;
  expect(Object.keys(alone.services)).toEqual(['prepare', 'a']);
  expect(alone).not.toHaveProperty('networks');
});

it('the first lines of the file say how to build the hub, how to get a token, and which projects it does not offer', () => {
  expect(render(fleet)).toContain('carrel image build --hub builds carrel-hub:latest');
  expect(render(fleet)).toContain('docker-compose -p shop exec -T hub carrel hub token --project app,api');
  expect(render(fleet)).toContain('Without a sandbox, and so not in the hub: lib.');
});

it('the first lines of the file say what a compose file cannot express', () => {
  const [reviewed, reach] = ['nothing is reviewed', 'Spokes reach the hub and nothing else'];
  expect(render(fleet)).toContain(reviewed);
  expect(render(fleet)).not.toContain(reach);
  const bound = { projects: { x: 'x' }, sandboxes: { a: { project: 'x', mode: 'bind', network: ['example.org'] } } };
  expect(render(bound)).not.toContain(reviewed);
  expect(render(bound)).toContain(reach);
});

it.each([
  [{}, 'there is no sandbox to render'],
  [{ sandboxes: { hub: {} } }, 'sandboxes.hub: hub is the name of a service'],
  [
    { projects: { ['a'.repeat(49)]: 'a' }, sandboxes: { a: { project: 'a'.repeat(49) } } },
    'is longer than an id of the hub',
  ],
])('%j is refused', (content, message) => {
  expect(() => render(content)).toThrow(message);
});

describe('text', () => {
  const odd = [
    '',
    ' ',
    'a: b',
    '- x',
    '#',
    '"',
    "'",
    '\\',
    '\n',
    '\t',
    '\u0085\u009b\u2028\ufeff',
    'é日😀',
    '{{ x }}',
    '%',
    '*a',
    '&a',
    '!t',
    '~',
  ];

  it('is read alike by YAML 1.1 and 1.2', () => {
    for (const version of ['1.1', '1.2'] as const) {
      const data = {
        list: odd,
        map: Object.fromEntries(odd.map((text) => [`k${text}`, text])),
        y: 'y',
        on: { no: 'null' },
      };
      expect(parse(yamlLines(data).join('\n'), { version })).toEqual(data);
    }
  });

  it('doubles dollar signs in values', () => {
    expect(yamlLines({ a: '$A $\x7bA} $$' })).toEqual(['a: "$$A $$\x7bA} $$$$"']);
  });

  it('nests lists and mappings', () => {
    const data = { a: [{ b: [1, { c: [] }] }, {}, [['x']]], d: { e: {} }, f: true, g: undefined };
    expect(parse(yamlLines(data).join('\n'))).toEqual({ a: data.a, d: data.d, f: true });
  });

  it('escapes control characters', () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('');
    expect(yamlLines({ all })[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/);
  });
});
