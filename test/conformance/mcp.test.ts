/**
 * Runs the official conformance suite of MCP on the hub's own code for HTTP, in both generations of the protocol. Only
 * the tools are not the hub's: the suite needs tools of its own. `mcp-expected.yaml` lists the scenarios for features
 * that the hub does not have.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { Port } from '../../src/kernel/server/port.ts';
import { Fault } from '../../src/model/fault.ts';
import type { Tool, ToolCall } from '../../src/noun/hub/hub.ts';
import { defaultGroups } from '../../src/noun/hub/model/token.ts';
import type { Authentication } from '../../src/noun/hub/token/authentication.ts';
import { openTestPort } from '../fixtures/mcp-port.ts';

const packages = resolve('test/clients/node_modules');
const node = join(packages, `node-linux-${process.arch}`, 'bin/node');
const suite = join(packages, '@modelcontextprotocol/conformance/dist/index.js');
const expected = resolve('test/conformance/mcp-expected.yaml');

function tool(name: string, run: (call: ToolCall) => Promise<string>): Tool {
  return {
    ...{ name, group: 'files', description: name, changes: false, destroys: false },
    ...{ input: z.object({ message: z.string().optional() }), output: z.object({ text: z.string() }) },
    run: async (_input, _scope, call) => ({ text: await run(call) }),
  };
}

async function ask({ ask }: ToolCall): Promise<string> {
  if (ask === null) throw new Fault('unsupported', 'the client cannot ask a person');
  return ask({ message: 'Please confirm', about: 'test', tick: null });
}

const tools = [
  tool('test_simple_text', async () => 'This is a simple text response for testing.'),
  tool('test_error_handling', async () => {
    throw new Fault('conflict', 'This tool intentionally returns an error for testing');
  }),
  tool('test_tool_with_progress', async ({ report }) => {
    for (const share of ['0', '50', '100']) report(share);
    return 'done';
  }),
  tool('test_logging_tool', async () => 'nothing is logged'),
  tool('test_elicitation', ask),
  tool('test_streaming_elicitation', ask),
  tool('test_input_required_result_elicitation', ask),
  tool('test_input_required_result_tampered_state', ask),
  tool('test_input_required_result_request_state', async (call) => `${await ask(call)}, state-ok`),
];

/** The suite sends no token. */
const everyone: Authentication = {
  authenticate: async () => ({
    user: 'alice',
    caller: { name: 'suite', projects: '*', groups: defaultGroups },
    check: () => {},
  }),
  challenge: () => null,
  document: () => null,
};

let port: Port;
let results: string;

beforeAll(async () => {
  port = await openTestPort(everyone, {}, { tools });
  results = mkdtempSync(join(tmpdir(), 'carrel-test-'));
});
afterAll(async () => {
  await port.close();
  rmSync(results, { recursive: true });
});

function conformance(...args: string[]): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    const argv = [suite, 'server', '--url', `${port.origin}/mcp`, ...args];
    const child = execFile(node, argv, { cwd: results, maxBuffer: 1e8 }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, output: `${stdout}${stderr}` }),
    );
  });
}

it.each(['2025-11-25', '2026-07-28'])(
  'the hub passes the requirements of revision %s',
  { timeout: 60_000 },
  async (revision) => {
    const { exitCode, output } = await conformance('--requirements', revision, '--expected-failures', expected);
    expect(exitCode, output.slice(-6000)).toBe(0);
  },
);
