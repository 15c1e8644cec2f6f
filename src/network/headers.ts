/** Headers of messages, flat, name and value in turn: as Node has received them (`rawHeaders`) and takes them. */
export type Headers = readonly string[];

/** About one connection only (RFC 9110). What `Connection` names is, too. */
export const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function namedByConnection(headers: Headers): string[] {
  return valuesOf(headers, 'connection')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase());
}

export function valuesOf(headers: Headers, wanted: string): string[] {
  return pairs(headers)
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value);
}

export function pairs(headers: Headers): [name: string, value: string][] {
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[at * 2]!, headers[at * 2 + 1]!]);
}

/** The head of an answer, as it is written to a socket. */
export function headText(status: number, reason: string, headers: Headers): string {
  const lines = pairs(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${reason}`, ...lines, '', ''].join('\r\n');
}
