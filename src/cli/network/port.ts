import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';

/** PORT or PORT:HOSTPORT. */
export function parsePorts(text: string): { port: number; hostPort?: number } {
  const found = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text);
  const ports = found?.slice(1).flatMap((digits) => (digits === undefined ? [] : [Number(digits)])) ?? [];
  const [port, hostPort] = ports;
  if (port === undefined || ports.some((one) => one < 1 || one > 65_535)) {
    throw new Fault('invalid', `${printable(text)} is not a port`, {
      hint: 'Write PORT, the one inside, or PORT:HOSTPORT; each from 1 to 65535.',
    });
  }
  return { port, ...(hostPort === undefined ? {} : { hostPort }) };
}
