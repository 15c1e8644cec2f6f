// @needs root
/** Credentials of sandboxes without root, and on a Docker Engine. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Service, TestAuthority } from '../fixtures/service.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation } from '../harness/installation.ts';
import { createRootlessAccount } from '../harness/rootless.ts';

const authority = new TestAuthority('127.0.0.1');
const value = 'the-real-key';

interface Testbed {
  readonly carrel: Installation;
  readonly config: string;
  readonly options: readonly string[];
  dispose(): Promise<void> | void;
}

async function withoutRoot(): Promise<Testbed> {
  const account = createRootlessAccount();
  return { carrel: new Installation(account), config: '', options: [], dispose: () => account.dispose() };
}

async function onDocker(): Promise<Testbed> {
  const dockerd = await Dockerd.open();
  const config = `docker: {socket: ${dockerd.socketPath}}\n`;
  return { carrel: new Installation(), config, options: ['--engine', 'docker'], dispose: () => dockerd.dispose() };
}

describe.each([
  ['without root', withoutRoot],
  ['on docker', onDocker],
])('%s', (_, prepare) => {
  let testbed: Testbed;
  let service: Service;
  const keys: unknown[] = [];

  beforeAll(async () => {
    service = await Service.open(authority.tls('127.0.0.1'), (request, response) => {
      keys.push(request.headers['x-api-key']);
      response.end('hello');
    });
    testbed = await prepare();
    const { carrel, config } = testbed;
    const certificate = join(carrel.folder('trusted'), 'ca.pem');
    writeFileSync(certificate, authority.certificate);
    writeFileSync(join(carrel.home, 'config.yaml'), `${config}authorities: [${certificate}]\n`);
  });
  afterAll(async () => {
    await testbed.carrel.dispose();
    await testbed.dispose();
    await service.dispose();
  });

  it('the key is added outside, at the base URL and at the real name of the service', async () => {
    const { carrel, options } = testbed;
    await carrel.run(['secret', 'set', 'KEY'], { input: value });
    const host = `127.0.0.1:${service.port}`;
    await carrel.ok('credential', 'add', 'api', '--preset', 'anthropic', '--host', host, '--secret', 'KEY');
    await carrel.ok('create', '--name', 'box', ...options, '--credential', 'api');
    const script = `curl -sS "$ANTHROPIC_BASE_URL/a"; curl -sS --noproxy "" --proxy "$HTTPS_PROXY" https://${host}/b; env`;
    const said = await carrel.ok('exec', 'box', '--', 'sh', '-c', script);
    expect([said.startsWith('hellohello'), said.includes(value), keys]).toEqual([true, false, [value, value]]);
  });
});
