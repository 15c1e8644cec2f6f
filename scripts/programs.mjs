// The programs of the build. Each becomes one file, `dist/program/NAME.js`, and nothing finds it by the path of its
// source. Those that run in sandboxes are copied there as `/opt/carrel/bin/lib/NAME.js`: one file without any other of
// Carrel. `cached` ones start often and get a code cache of V8; those inside sandboxes have none, because another Node
// may run them there.
export const programs = [
  { name: 'carrel', source: 'client/main.ts', cached: true },
  { name: 'daemon', source: 'kernel/daemon/main.ts', cached: true },
  { name: 'daemon-enter', source: 'kernel/daemon/enter.ts' },
  { name: 'hub-container', source: 'kernel/daemon/hub-container.ts' },
  { name: 'job-thread', source: 'kernel/job/job-thread.ts', cached: true },
  { name: 'room-thread', source: 'noun/room/room-thread.ts', cached: true },
  { name: 'memory-thread', source: 'noun/memory/memory-thread.ts', cached: true },
  { name: 'embedding-thread', source: 'noun/memory/embedding/embedding-thread.ts' },
  { name: 'bank-thread', source: 'noun/memory/bank/bank-thread.ts' },
  { name: 'proxy', source: 'noun/network/proxy/main.ts', cached: true },
  { name: 'namespace-thread', source: 'noun/network/proxy/socket/namespace-thread.ts', cached: true },
  { name: 'chroma-broker', source: 'extra/chroma/main.ts' },
  // In sandboxes.
  { name: 'carrel-adapter', source: 'noun/swarm/inside/main.ts' },
  { name: 'carrel-agent', source: 'noun/agent/inside/terminal/main.ts' },
  { name: 'carrel-agent-api', source: 'noun/session/inside/main.ts' },
  { name: 'carrel-configure', source: 'noun/agent/inside/mcp/main.ts' },
  { name: 'carrel-memory', source: 'noun/memory/inside/main.ts' },
  { name: 'carrel-memory-bank', source: 'noun/memory/inside/bank/main.ts' },
  { name: 'carrel-room', source: 'noun/room/inside/main.ts' },
  { name: 'carrel-spoke', source: 'noun/hub/inside/main.ts' },
  { name: 'demo-acp', source: 'noun/agent/inside/demo-acp/demo-acp.ts' },
  { name: 'demo-agent', source: 'noun/agent/inside/demo/demo.ts' },
  // A script that Node in a sandbox requires before a program of the agent.
  { name: 'node-proxy', source: 'noun/network/node-proxy.cts' },
];

/** The file of a program below `dist/program`. */
export function programFile({ name, source }) {
  return `${name}.${source.endsWith('.cts') ? 'cjs' : 'js'}`;
}
