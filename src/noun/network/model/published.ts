import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';

/** Parses `-p`: [[ADDRESS:]HOSTPORT:]PORT, in the order of docker. */
export function parsePublished(text: string): { port: number; hostPort?: number; hostAddress?: string } {
  const found = /^(?:(?:(\[[0-9a-fA-F:.]+\]|[\d.]+):)?(\d{0,5}):)?(\d{1,5})(?:\/tcp)?$/.exec(text);
  const [address, hostPort, port] = found?.slice(1) ?? [];
  if (port === undefined || !isPort(port) || (hostPort && !isPort(hostPort)))
    throw new Fault('invalid', `--publish: ${printable(text)} is not a port`, {
      hint: 'Write PORT, the one inside, or HOSTPORT:PORT, or ADDRESS:HOSTPORT:PORT; each from 1 to 65535, TCP only.',
    });
  return {
    port: Number(port),
    ...(hostPort ? { hostPort: Number(hostPort) } : {}),
    ...(address ? { hostAddress: address.replace(/^\[|\]$/g, '') } : {}),
  };
}

function isPort(digits: string): boolean {
  return Number(digits) >= 1 && Number(digits) <= 65_535;
}

/** Parses PORT or PORT:HOSTPORT. */
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
