import { describe, expect, test } from 'vitest';
import { endpointText, hostText, parseEndpoint, parseHost } from './host.ts';

describe('a host is converted to its canonical spelling', () => {
  test.each([
    ['example.com', 'example.com'],
    ['EXAMPLE.Com', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['BÜCHER.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['example。com', 'example.com'],
    ['_dmarc.a-b.example', '_dmarc.a-b.example'],
    ['localhost', 'localhost'],
    ['192.0.2.1', '192.0.2.1'],
    ['::1', '[::1]'],
    ['[::1]', '[::1]'],
    ['[0:0:0:0:0:0:0:1]', '[::1]'],
    ['[2001:DB8:0:0::1]', '[2001:db8::1]'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['[::ffff:7f00:1]', '127.0.0.1'],
    ['[::FFFF:a9fe:a9fe]', '169.254.169.254'],
    ['[0:0:0:0:0:ffff:10.0.0.1]', '10.0.0.1'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('%j', (text, canonical) => {
    expect(hostText(parseHost(text))).toBe(canonical);
    expect(hostText(parseHost(canonical))).toBe(canonical);
  });
});

describe('a host is refused', () => {
  test.each([
    ['nothing', ''],
    ['a dot', '.'],
    ['an empty label', 'a..example'],
    ['two dots at the end', 'example.com..'],
    ['a dot in front', '.example.com'],
    ['NUL', 'example.com\0.evil.example'],
    ['a line break', 'example.com\r\nHost: evil.example'],
    ['a space', 'exam ple.com'],
    ['a tab', 'example.com\t'],
    ['percent-encoding', 'example%2ecom'],
    ['percent-encoded NUL', 'example.com%00'],
    ['userinfo', 'example.com@evil.example'],
    ['a path', 'example.com/evil'],
    ['a backslash', 'example.com\\evil'],
    ['a fragment', 'example.com#evil'],
    ['a query', 'example.com?evil'],
    ['a wildcard', '*.example.com'],
    ['octal', '0177.0.0.1'],
    ['leading zeros', '127.0.0.01'],
    ['hexadecimal', '0x7f.0.0.1'],
    ['one number', '2130706433'],
    ['one hexadecimal number', '0x7f000001'],
    ['two numbers', '127.1'],
    ['three numbers', '127.0.1'],
    ['five numbers', '1.2.3.4.5'],
    ['an address with a dot', '127.0.0.1.'],
    ['a name that ends in a number', 'evil.127'],
    ['fullwidth digits', '１２７.0.0.1'],
    ['circled digits', '①②⑦.0.0.1'],
    ['an ideographic dot in an address', '127。0。0。1'],
    ['a soft hyphen alone', '\u00ad'],
    ['a joiner', 'a\u200db.example'],
    ['punycode that means nothing', 'xn--a.example'],
    ['punycode of what needs none', 'a.xn--xn--a-.example'],
    ['a dash in front', '-a.example'],
    ['a dash behind', 'a-.example'],
    ['a label too long', `${'a'.repeat(64)}.example`],
    ['a name too long', `${'a.'.repeat(130)}example`],
    ['a name far too long', 'ü'.repeat(100_000)],
    ['a zone', '[fe80::1%eth0]'],
    ['a zone without brackets', 'fe80::1%1'],
    ['a bracket alone', '[::1'],
    ['a bracket behind', '::1]'],
    ['a name in brackets', '[example.com]'],
    ['an IPv4 address in brackets', '[127.0.0.1]'],
    ['nothing in brackets', '[]'],
    ['a port in a host', 'example.com:443:1'],
  ])('%s', (_, text) => {
    expect(() => parseHost(text)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  test('with a message that is safe to print', () => {
    expect(() => parseHost('a\u001b[2J')).toThrow('"a\\u001b[2J" has characters that no host name has');
  });
});

describe('a host and a port', () => {
  test.each([
    ['Example.com:443', 'example.com:443'],
    ['[::1]:8080', '[::1]:8080'],
    ['[::ffff:1.2.3.4]:1', '1.2.3.4:1'],
    ['192.0.2.1:65535', '192.0.2.1:65535'],
  ])('%j', (text, canonical) => {
    expect(endpointText(parseEndpoint(text))).toBe(canonical);
  });

  test.each([
    'example.com',
    'example.com:',
    'example.com:0',
    'example.com:00443',
    'example.com:+443',
    'example.com:65536',
    'example.com:99999999999999999999',
    'example.com:0x1bb',
    'example.com:443 ',
    'example.com:４４３',
    'user:pass@example.com:443',
    '::1:443x',
    ':443',
  ])('are refused: %j', (text) => {
    expect(() => parseEndpoint(text)).toThrow(expect.objectContaining({ code: 'invalid' }));
  });

  test('have a default port if the caller passes one', () => {
    expect(endpointText(parseEndpoint('example.com', 80))).toBe('example.com:80');
    expect(endpointText(parseEndpoint('example.com:81', 80))).toBe('example.com:81');
  });
});
