/** A refusal as a whole HTTP response, for connections without a response object. */
import { type Fault, faultTable } from '../../model/fault.ts';

export function refusalText(fault: Fault, headers: Readonly<Record<string, string>> = {}): string {
  const body = JSON.stringify(fault);
  const head = [
    `HTTP/1.1 ${faultTable[fault.code].http} Refused`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
