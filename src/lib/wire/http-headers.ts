/** HTTP headers as a flat list, name and value in turn: the form in which Node reads (`rawHeaders`) and writes them. */
export type Headers = readonly string[];

/** Headers about one connection only (RFC 9110). Headers that `Connection` names are hop-by-hop, too. */
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

/** The head of a response as text for a socket. */
export function headText(status: number, reason: string, headers: Headers): string {
  const lines = pairs(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${reason}`, ...lines, '', ''].join('\r\n');
}
