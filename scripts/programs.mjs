// The programs of the build. Each becomes one file, `dist/program/NAME.js`, and nothing finds it by the path of its
// source. Those that run in sandboxes are copied there as `/opt/carrel/bin/lib/NAME.js`: one file without any other of
// Carrel. `cached` ones start often and get a code cache of V8; those inside sandboxes have none, because another Node
// may run them there.
export const programs = [
  { name: 'carrel', source: 'cli/main.ts', cached: true },
  { name: 'daemon', source: 'daemon/main.ts', cached: true },
  { name: 'daemon-enter', source: 'daemon/enter.ts' },
  { name: 'hub-container', source: 'daemon/hub-container.ts' },
  { name: 'job-thread', source: 'job/job-thread.ts', cached: true },
  { name: 'room-thread', source: 'room/room-thread.ts', cached: true },
  { name: 'memory-thread', source: 'memory/memory-thread.ts', cached: true },
  { name: 'embedding-thread', source: 'memory/embedding-thread.ts' },
  { name: 'bank-thread', source: 'bank/bank-thread.ts' },
  { name: 'proxy', source: 'network/proxy/main.ts', cached: true },
  { name: 'namespace-thread', source: 'network/proxy/namespace-thread.ts', cached: true },
  { name: 'chroma-broker', source: 'chroma/main.ts' },
  // In sandboxes.
  { name: 'carrel-adapter', source: 'agent/main.ts' },
  { name: 'carrel-agent', source: 'agent/terminal/main.ts' },
  { name: 'carrel-agent-api', source: 'agent/session/main.ts' },
  { name: 'carrel-configure', source: 'agent/mcp/main.ts' },
  { name: 'carrel-memory', source: 'agent/memory/main.ts' },
  { name: 'carrel-memory-bank', source: 'agent/bank/main.ts' },
  { name: 'carrel-room', source: 'agent/room/main.ts' },
  { name: 'carrel-spoke', source: 'agent/spoke/main.ts' },
  { name: 'demo-acp', source: 'agent/demo-acp/demo-acp.ts' },
  { name: 'demo-agent', source: 'agent/demo.ts' },
  // A script that Node in a sandbox requires before a program of the agent.
  { name: 'node-proxy', source: 'launch/node-proxy.cts' },
];

/** The file of a program below `dist/program`. */
export function programFile({ name, source }) {
  return `${name}.${source.endsWith('.cts') ? 'cjs' : 'js'}`;
}
