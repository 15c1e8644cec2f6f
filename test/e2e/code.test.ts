/** Code intelligence of the hub with real language servers in the sandboxes of projects. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;

beforeAll(async () => {
  carrel = new Installation();
  await add('ts', {
    'tsconfig.json': '{"compilerOptions":{"strict":true}}',
    'src/cart.ts': 'export class Cart {\n  total(count: number) {\n    return count;\n  }\n}\n',
    'src/main.ts': "import { Cart } from './cart';\nnew Cart().total(1);\n",
  });
});
afterAll(() => carrel.dispose());

async function add(name: string, files: Readonly<Record<string, string>>, ...options: string[]): Promise<string> {
  const folder = carrel.folder(name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await carrel.ok('project', 'add', folder, ...options);
  return folder;
}

async function call(tool: string, input: object): Promise<Record<string, unknown>> {
  return JSON.parse(await carrel.ok('--json', 'hub', 'call', tool, JSON.stringify(input))) as Record<string, unknown>;
}

describe('the hub', () => {
  it('finds a definition of TypeScript by position and by symbol', async () => {
    const definition = {
      path: '/workspaces/ts/src/cart.ts',
      line: 2,
      column: 3,
      end_line: 2,
      end_column: 8,
      text: '  total(count: number) {',
    };
    const found = await call('find_definition', { project: 'ts', path: 'src/main.ts', line: 2, column: 14 });
    expect(found).toMatchObject({ status: 'complete', server: 'typescript', locations: [definition] });
    const named = await call('find_definition', { project: 'ts', path: 'src/cart.ts', symbol: 'Cart/total' });
    expect(named).toMatchObject({ locations: [definition] });
  });
});

it('the hub finds definitions of Python, and reports a language server that is not installed', async () => {
  await add('other', {
    'cart.py': 'class Cart:\n    pass\n',
    'main.py': 'from cart import Cart\n\nCart()\n',
    'main.go': '',
  });
  const found = await call('find_definition', { project: 'other', path: 'main.py', line: 3, column: 2 });
  expect(found).toMatchObject({
    status: 'complete',
    server: 'pyright',
    locations: [{ path: '/workspaces/other/cart.py', line: 1 }],
  });
  const refused = await carrel.run([
    'hub',
    'call',
    'get_hover',
    '{"project":"other","path":"main.go","line":1,"column":1}',
  ]);
  expect(refused).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('gopls is not in the sandbox') as string,
  });
});

it('the hub uses language servers of config.yaml, and with --lang only those of the named languages', async () => {
  const fake = `import sys, json
def read():
    length = 0
    while (line := sys.stdin.buffer.readline().strip()):
        if line.lower().startswith(b'content-length:'): length = int(line[15:])
    return json.loads(sys.stdin.buffer.read(length)) if length else sys.exit(0)
while True:
    message = read()
    if 'id' not in message: continue
    result = {'capabilities': {}} if message['method'] == 'initialize' else {'contents': 'from the config'}
    text = json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result})
    sys.stdout.write(f'Content-Length: {len(text)}\\r\\n\\r\\n{text}')
    sys.stdout.flush()
`;
  const config = {
    hub: { languageServers: { mine: { command: ['python3', '/workspace/server.py'], files: { '.ts': 'x' } } } },
  };
  writeFileSync(join(carrel.home, 'config.yaml'), JSON.stringify(config));
  const files = { 'a.ts': 'const a = 1;\n', 'server.py': fake };
  await add('configured', files);
  await add('pinned', files, '--lang', 'ts');
  const hover = (project: string) => call('get_hover', { project, path: 'a.ts', line: 1, column: 7 });
  expect(await hover('configured')).toMatchObject({ server: 'mine', text: 'from the config' });
  expect(await hover('pinned')).toMatchObject({
    server: 'typescript',
    text: expect.stringContaining('const a: 1') as string,
  });
  expect(await carrel.run(['project', 'add', carrel.home, '--lang', 'klingon'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('"klingon" is not a known language') as string,
  });
});
