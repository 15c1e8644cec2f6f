/** Section `services` of config.yaml: services that sandboxes can be granted. */
import { z } from 'zod';
import { type At, section } from '../../../kernel/settings/section.ts';
import { Fault } from '../../../model/fault.ts';
import { parseEndpoint } from '../../../model/host.ts';
import { printable } from '../../../model/name.ts';
import { hubService } from '../../hub/model/service.ts';
import { addressClass } from '../model/address.ts';
import { type DeclaredService, identityKinds, serviceNamePattern, servicePorts } from '../model/service.ts';

/** The limit of the kernel for the path of a unix socket. */
const maxSocketPath = 107;

const services = z
  .record(
    z.string().regex(serviceNamePattern),
    z.strictObject({
      port: z
        .int()
        .min(servicePorts.first)
        .max(servicePorts.last)
        .meta({ description: 'The port of the sandbox’s loopback at which the service is.', examples: [17010] }),
      to: z
        .string()
        .min(1)
        .max(300)
        .meta({
          description: 'Where the service listens: the path of a unix socket, or `127.0.0.1:PORT`.',
          examples: ['/run/notes.sock'],
        }),
      identity: z
        .enum(identityKinds)
        .default('headers')
        .meta({
          description:
            'How the service learns which sandbox calls: `headers` adds `x-carrel-caller` to each HTTP request, `line` sends one line of JSON at the start of each connection.',
          examples: ['headers'],
        }),
    }),
  )
  .describe('Services of yours that sandboxes can call, by name (`--service NAME`).');

export const servicesSection = section('services', {
  schema: services.optional(),
  read: (content, at) => ({ services: servicesOf(content ?? {}, at) }),
});

function servicesOf(
  content: Readonly<Record<string, Omit<DeclaredService, 'name'>>>,
  at: At,
): readonly DeclaredService[] {
  const services = Object.entries(content).map(([name, service]) => ({ name, ...service }));
  for (const service of services) at(`services.${service.name}`, () => checkService(service, services));
  return services.some(({ name }) => name === hubService.name) ? services : [...services, hubService];
}

function checkService({ name, port, to }: DeclaredService, services: readonly DeclaredService[]): void {
  const wrong = (what: string, hint: string) => new Fault('invalid', `services.${name}.${what}`, { hint });
  const other = services.find((one) => one.name !== name && one.port === port);
  if (other) throw wrong(`port: ${other.name} has port ${port} already`, 'Name another one.');
  if (!isNear(to))
    throw wrong(`to: ${printable(to)} is no such place`, 'The path of a unix socket, or 127.0.0.1:PORT.');
}

/** Whether the address is on this machine: no other machine may learn which sandbox calls. */
function isNear(to: string): boolean {
  if (to.startsWith('/')) return Buffer.byteLength(to) <= maxSocketPath && !to.includes('\0');
  try {
    const { host } = parseEndpoint(to, 0);
    return (
      host.kind === 'address' && addressClass(host.text, host.family) === 'loopback' && parseEndpoint(to, 0).port > 0
    );
  } catch {
    return false;
  }
}
