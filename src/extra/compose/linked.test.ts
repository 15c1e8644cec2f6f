import { expect, it } from 'vitest';
import { parseLinked } from './linked.ts';

it('parseLinked finds the loader and the libraries', () => {
  const glibc = [
    '\tlinux-vdso.so.1 (0x00007f12687a1000)',
    '\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f12686aa000)',
    '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f126821e000)',
    '\t/lib64/ld-linux-x86-64.so.2 (0x00007f12687a3000)',
  ].join('\n');
  expect(parseLinked(glibc)).toEqual({
    loader: '/lib64/ld-linux-x86-64.so.2',
    libraries: ['/lib/x86_64-linux-gnu/libm.so.6', '/lib/x86_64-linux-gnu/libc.so.6'],
    missing: [],
  });
  expect(parseLinked('\tnot a dynamic executable\n')).toEqual({ loader: null, libraries: [], missing: [] });
});

it('parseLinked names the libraries that are not installed', () => {
  expect(parseLinked('\tlibx.so.1 => not found\n').missing).toEqual(['libx.so.1']);
});
