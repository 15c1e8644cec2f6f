import { expect, test } from 'vitest';
import { parseEnv, parseEnvFile } from './env.ts';

test('K=V takes any value, and K alone takes the value of this process', () => {
  expect(parseEnv(['A=1=2', 'B=', 'HERE'], { HERE: 'x' })).toEqual({ A: '1=2', B: '', HERE: 'x' });
  expect(() => parseEnv(['AWAY'], {})).toThrow('AWAY is not set here');
});

test('a file has one variable a line and comments, and quotes are part of a value', () => {
  const text = '\uFEFF# names\nA=1\r\n\n  B="two words"\nHERE\n';
  expect(parseEnvFile(text, 'x.env', { HERE: 'y' })).toEqual({ A: '1', B: '"two words"', HERE: 'y' });
});

test('the error for a bad line names its file and number', () => {
  expect(() => parseEnvFile('A=1\nexport B=2', 'x.env', {})).toThrow(
    '--env-file "x.env":2: "export B" is not the name of a variable',
  );
});
