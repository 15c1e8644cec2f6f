/** Services of ours at fixed ports inside. Who calls is written in front of what they say, by us. */
import { connect, type Socket } from 'node:net';
import { NetworkPolicy } from '../../model/network.ts';
import type { Caller, Service } from '../network.ts';
import type { Attached } from './attached.ts';

export function takeService(attached: Attached, { name, port, socket }: Service, client: Socket): void {
  attached.admit(client);
  const place = `127.0.0.1:${port}`;
  const isGranted = () => attached.attachment.services.some((one) => one.name === name);
  const attempt = attached.attempt('service', () => new NetworkPolicy(isGranted() ? [place] : []));
  try {
    attempt.allow({ host: { kind: 'address', text: '127.0.0.1', family: 4 }, port }, `service ${name}`, socket);
  } catch {
    // What cannot be recorded is not done.
    attempt.end();
    client.destroy();
    return;
  }
  const { id, name: sandbox, user } = attached.attachment;
  const caller: Caller = { id, name: sandbox, user };
  const service = connect({ path: socket, allowHalfOpen: true });
  service.on('error', () => client.destroy());
  service.write(`${JSON.stringify(caller)}\n`);
  attached.connect(attempt, client, service);
}
