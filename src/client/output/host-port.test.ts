import { expect, test } from 'vitest';
import { hostPortText } from './host-port.ts';

test('an IPv6 address is in brackets before its port', () => {
  expect(hostPortText({ hostAddress: '127.0.0.1', hostPort: 3000 })).toBe('127.0.0.1:3000');
  expect(hostPortText({ hostAddress: '::1', hostPort: 3000 })).toBe('[::1]:3000');
});
