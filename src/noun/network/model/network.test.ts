import { describe, expect, test } from 'vitest';
import { parseEndpoint, parseHost } from '../../../model/host.ts';
import { canonicalRule, NetworkPolicy, ruleClass, usableRule } from './network.ts';

function decide(rules: readonly string[], text: string) {
  return new NetworkPolicy(rules).decide(parseEndpoint(text));
}

function decideAddress(rules: readonly string[], address: string, port = 443, own: readonly string[] = []) {
  const host = parseHost(address);
  if (host.kind !== 'address') throw new Error(`${address} is a name`);
  return new NetworkPolicy(rules).decideAddress(host, port, new Set(own));
}

describe('a rule', () => {
  test.each([
    ['API.Example.com', 'api.example.com'],
    ['example.com.:8443', 'example.com:8443'],
    ['*.Example.COM', '*.example.com'],
    ['*.bücher.example:80', '*.xn--bcher-kva.example:80'],
    ['*.*.example.com', '*.*.example.com'],
    ['a.*.example.com', 'a.*.example.com'],
    ['[0::1]:80', '[::1]:80'],
    ['::1', '[::1]'],
    ['127.0.0.1:3000', '127.0.0.1:3000'],
  ])('has a canonical spelling: %j', (text, canonical) => {
    expect(canonicalRule(text)).toBe(canonical);
    expect(canonicalRule(canonical)).toBe(canonical);
  });

  test.each([
    ['', 'is not a host name'],
    ['*', 'too many hosts'],
    ['*.com', 'too many hosts'],
    ['*.*', 'too many hosts'],
    ['example.*', 'too many hosts'],
    ['a.*.com', 'too many hosts'],
    ['a*.example.com', 'in the middle of a label'],
    ['*.exa mple.com', 'characters that no host name has'],
    ['*.0.0.1', 'is not a host name'],
    ['*。example.com', 'too many hosts'],
    ['https://example.com', 'is a URL'],
    ['https://example.com/', 'is a URL'],
    ['example.com/path', 'characters that no host name has'],
    ['example.com:*', 'is not a port'],
    ['user@example.com', 'characters that no host name has'],
    ['10.0.0.0/8', 'characters that no host name has'],
  ])('is refused: %j', (text, why) => {
    expect(() => canonicalRule(text)).toThrow(why);
  });
});

describe('rules decide on a connection by name', () => {
  test.each([
    ['example.com', 'example.com:443'],
    ['example.com', 'example.com:80'],
    ['example.com', 'EXAMPLE.com.:443'],
    ['example.com:8443', 'example.com:8443'],
    ['*.example.com', 'a.example.com:443'],
    ['a.*.example.com', 'a.b.example.com:443'],
    ['192.0.2.1', '192.0.2.1:443'],
    ['[::1]:80', '[0:0::1]:80'],
    ['127.0.0.1:80', '[::ffff:127.0.0.1]:80'],
    ['bücher.example', 'xn--bcher-kva.example:443'],
  ])('%s allows %s', (rule, endpoint) => {
    expect(decide(['other.example', rule], endpoint)).toEqual({ allowed: true, rule: canonicalRule(rule) });
  });

  test.each([
    ['example.com', 'www.example.com:443', 'not_allowed'],
    ['www.example.com', 'example.com:443', 'not_allowed'],
    ['example.com', 'evilexample.com:443', 'not_allowed'],
    ['example.com', 'example.com.evil.example:443', 'not_allowed'],
    ['example.com', 'example.com:22', 'port_not_allowed'],
    ['example.com:8443', 'example.com:443', 'port_not_allowed'],
    ['*.example.com', 'example.com:443', 'not_allowed'],
    ['*.example.com', 'a.b.example.com:443', 'not_allowed'],
    ['*.example.com', 'a.example.org:443', 'not_allowed'],
    ['a.*.example.com', 'b.b.example.com:443', 'not_allowed'],
    ['192.0.2.1', '192.0.2.2:443', 'not_allowed'],
    ['localhost:80', '127.0.0.1:80', 'not_allowed'],
  ])('%s does not allow %s', (rule, endpoint, refusal) => {
    expect(decide([rule], endpoint)).toMatchObject({ allowed: false, refusal });
  });

  test('a refusal names the request and the nearest rule', () => {
    expect(decide([], 'example.com:443')).toMatchObject({ reason: 'no rule allows example.com:443', rule: null });
    expect(decide(['example.com'], 'example.com:22')).toMatchObject({
      reason: 'the rule example.com is not for port 22',
      rule: 'example.com',
    });
  });

  test('nothing is allowed without rules', () => {
    expect(decide([], '[::1]:17000').allowed).toBe(false);
  });
});

describe('rules decide on a connection by address', () => {
  test.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['::ffff:192.168.1.1', 'private'],
    ['fd12::1', 'private'],
    ['fec0::1', 'private'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['febf::1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['::ffff:169.254.169.254', 'metadata'],
    ['100.64.0.1', 'shared'],
    ['100.127.255.255', 'shared'],
    ['224.0.0.251', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['ff02::1', 'multicast'],
    ['::127.0.0.1', 'translated'],
    ['::', 'translated'],
    ['::ffff:0:10.0.0.1', 'translated'],
    ['64:ff9b::7f00:1', 'translated'],
    ['64:ff9b::808:808', 'translated'],
    ['64:ff9b:1::1', 'translated'],
    ['2002:7f00:1::', 'translated'],
    ['2001:0:1::', 'translated'],
    ['192.88.99.1', 'translated'],
    ['0.0.0.0', 'reserved'],
    ['0.1.2.3', 'reserved'],
    ['192.0.0.8', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['100::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['5f00::1', 'reserved'],
  ])('%s is %s, and only a rule for that address allows it', (address, refusal) => {
    expect(decideAddress(['example.com', '*.example.com', 'localhost'], address)).toMatchObject({
      allowed: false,
      refusal,
    });
    expect(decideAddress([`${canonicalRule(address)}:443`], address)).toMatchObject({ allowed: true });
    expect(decideAddress([`${canonicalRule(address)}:80`], address)).toMatchObject({ allowed: false });
    expect(ruleClass(address)).toBe(refusal);
  });

  test.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2001:4860:4860::8888'])(
    '%s is an address of the public Internet',
    (address) => {
      expect(decideAddress([], address)).toBeNull();
      expect(ruleClass(address)).toBeNull();
    },
  );

  test('an address of this machine needs a rule for that address, too', () => {
    const own = ['8.8.4.4', '10.0.0.2'];
    expect(decideAddress([], '8.8.4.4', 443, own)).toMatchObject({ allowed: false, refusal: 'own_address' });
    expect(decideAddress([], '10.0.0.2', 443, own)).toMatchObject({ allowed: false, refusal: 'own_address' });
    expect(decideAddress(['8.8.4.4:443'], '8.8.4.4', 443, own)).toMatchObject({ allowed: true });
    expect(decideAddress(['8.8.4.4:443'], '8.8.4.4', 80, own)).toMatchObject({ allowed: false });
  });

  test('a refusal names the rule that would allow it', () => {
    expect(decideAddress([], '10.0.0.5', 5432)).toMatchObject({
      reason: '10.0.0.5 is a private address, which has to be named exactly: 10.0.0.5:5432',
    });
    expect(decideAddress([], '::1', 80)).toMatchObject({
      reason: '[::1] is a loopback address, which has to be named exactly: [::1]:80',
    });
  });
});

describe('a rule that would have no effect is refused', () => {
  test.each([
    ['127.0.0.1:3000', [], 'would be the sandbox itself'],
    ['127.9.9.9', [], 'would be the sandbox itself'],
    ['[::1]:3000', [], 'would be the sandbox itself'],
    ['127.0.0.1:3000', ['a.example:3001'], 'would be the sandbox itself'],
    ['127.0.0.1:3000', ['10.0.0.1:3000'], 'would be the sandbox itself'],
    ['LocalHost:80', ['a.example'], 'would be the sandbox itself'],
    ['db.localhost', ['a.example'], 'would be the sandbox itself'],
    ['ip6-localhost:80', ['a.example'], 'would be the sandbox itself'],
    ['0.0.0.0:8080', ['a.example:8080'], 'would be the sandbox itself'],
    ['[::]:8080', ['a.example:8080'], 'would be the sandbox itself'],
    ['all', [], 'all is not a host'],
    ['host:80', [], 'host is not a host'],
  ])('%s beside %j', (rule, others, why) => {
    expect(() => usableRule(rule, [rule, ...others])).toThrow(why);
  });

  test.each([
    ['127.0.0.1:3000', ['a.example:3000']],
    ['127.0.0.1', ['*.a.example']],
    ['10.0.0.1:5432', []],
    ['all.example', []],
  ])('but %s beside %j is accepted', (rule, others) => {
    expect(usableRule(rule, [rule, ...others])).toBe(rule);
  });
});
