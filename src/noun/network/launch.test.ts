import { expect, it } from 'vitest';
import { samplePlaces } from '../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../test/fixtures/sandbox.ts';
import { initialStatus, type SandboxSpec } from '../sandbox/model.ts';
import { network as part } from './launch.ts';
import { noNetwork } from './model/network.ts';

/** The command that is started for a spec. */
function commandOf(spec: SandboxSpec): readonly string[] {
  const sandbox = { id: '1', name: 'box', createdAt: '', status: initialStatus, spec };
  return part.command!(sandbox, samplePlaces('/home'), spec.command);
}

const spec = { ...sampleSpec, engine: 'docker', command: ['true'] } as const;
const services = [
  { name: 'notes', port: 17_011 },
  { name: 'log', port: 17_010 },
];
const network = { ...noNetwork, allow: ['example.com'] };

it.each([
  ['with a network', { network }, "'4268 0A'"],
  ['with services only, for the one that is opened last', { services }, "'4272 0A'"],
  ['with both, for the proxy, which is opened after them', { network, services }, "'4268 0A'"],
])('a command on docker waits for its network %s', (_, more, listed) => {
  const [shell, flag, line, ...rest] = commandOf({ ...spec, ...more });
  expect([shell, flag, ...rest]).toEqual(['/bin/sh', '-c', 'sh', 'true']);
  expect(line).toContain(listed);
});

it.each([
  ['without network and services', {}],
  ['on an engine that connects the network before the command', { engine: 'local', network, services } as const],
])('a command is unchanged %s', (_, more) => {
  expect(commandOf({ ...spec, ...more })).toEqual(['true']);
});
