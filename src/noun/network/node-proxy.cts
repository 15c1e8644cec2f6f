/**
 * Every Node inside a sandbox with a network loads this before its program (NODE_OPTIONS). From 22.21 and 24.5 on, Node itself
 * uses the proxy of its environment when NODE_USE_ENV_PROXY is set. For older versions this file does the same: fetch, and
 * http and https with their global agents, ask the proxy for a tunnel. It does so for fetch in all versions, since Node's own
 * fetch does not name the host that the proxy refuses. A program that sets its own agent or dispatcher keeps it. The file
 * needs no package, and nothing newer than Node 18.
 */
type Socket = import('node:net').Socket;
type Done = (error: Error | null, socket?: Socket) => void;

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What http and https pass to the createConnection of an agent. */
type AgentAddress = import('node:https').RequestOptions & { readonly socket?: unknown };

interface Connecting {
  createConnection(options: AgentAddress, done: Done): unknown;
}

/** What undici passes to a connect function. */
interface FetchAddress {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly servername?: string | null;
}

interface Dispatcher {
  readonly constructor: { readonly name: string; new (options: object): Dispatcher };
  readonly [option: symbol]: unknown;
}

const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
const warns = major === 22 && minor >= 21;
const usesEnvironment = major > 24 || (major === 24 && minor >= 5) || warns;

if (warns) {
  // Node 22 warns at every start that this is an experiment. In a worker it does so before this file is loaded.
  const { emit } = process;
  process.emit = ((...args: [string, { readonly code?: string }]) => {
    if (args[0] !== 'warning' || args[1]?.code !== 'UNDICI-EHPA') return Reflect.apply(emit, process, args);
    process.emit = emit;
    return false;
  }) as typeof emit;
}

if (!usesEnvironment) {
  patchAgent(require('node:http') as typeof import('node:http'), 80);
  patchAgent(require('node:https') as typeof import('node:https'), 443);
}

const builtin = globalThis.fetch;
let isReady = false;
if (typeof builtin === 'function') {
  // Undici takes longer to load than most programs take to start, so it is loaded at the first fetch.
  globalThis.fetch = function fetch(...args) {
    if (!isReady) replaceDispatcher();
    isReady = true;
    return builtin(...args);
  };
}

/** Opens a connection to the address through the proxy. Nothing was sent on it yet. */
function openTunnel(proxy: URL, { host, port }: Address, done: Done): void {
  const { isIP } = require('node:net') as typeof import('node:net');
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const request = (require('node:http') as typeof import('node:http')).request({
    method: 'CONNECT',
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || 80,
    path: target,
    agent: false,
    headers: { host: target },
  });
  request.on('error', done);
  request.once('connect', ({ statusCode, statusMessage }, socket: Socket, head: Buffer) => {
    if (statusCode === 200) {
      socket.unshift(head);
      return done(null, socket);
    }
    socket.destroy();
    const reason = head.toString().trim() || statusMessage;
    done(Object.assign(new Error(`the proxy refuses ${target}: ${reason}`), { code: 'ERR_PROXY_TUNNEL' }));
  });
  request.end();
}

function patchAgent(module: typeof import('node:http') | typeof import('node:https'), usualPort: number): void {
  const isSecure = usualPort === 443;
  const agent = module.globalAgent as unknown as Connecting;
  const direct = agent.createConnection;
  agent.createConnection = function (options, done) {
    const address = { host: String(options.host ?? 'localhost'), port: Number(options.port ?? usualPort) };
    const proxy = options.socketPath || options.socket ? null : proxyFor(isSecure, address);
    if (proxy === null) return direct.call(this, options, done);
    openTunnel(proxy, address, (error, socket) => {
      if (error || !isSecure) done(error, socket);
      else done(null, direct.call(this, { ...options, socket }, done) as Socket);
    });
    return undefined;
  };
}

/** The connect function of a dispatcher. `options` are the program's TLS options. */
function connectorWith(options: object) {
  const { connect, isIP } = require('node:net') as typeof import('node:net');
  const { connect: connectTls } = require('node:tls') as typeof import('node:tls');
  return ({ protocol, hostname: host, port, servername }: FetchAddress, done: Done): void => {
    const isSecure = protocol === 'https:';
    const address = { host, port: Number(port || (isSecure ? 443 : 80)) };
    const name = servername || host;
    const tls = { ALPNProtocols: ['http/1.1'], ...options, ...address, servername: isIP(name) ? '' : name };
    const finish = (socket: Socket, event: string): void => {
      const settle: Done = (error) => {
        socket.off(event, opened).off('error', settle);
        done(error, socket);
      };
      const opened = () => settle(null);
      socket.setNoDelay(true).once(event, opened).once('error', settle);
    };
    const proxy = proxyFor(isSecure, address);
    if (proxy !== null)
      openTunnel(proxy, address, (error, socket) => {
        if (error || !isSecure) done(error, socket);
        else finish(connectTls({ ...tls, socket: socket! }), 'secureConnect');
      });
    else if (isSecure) finish(connectTls(tls), 'secureConnect');
    else finish(connect(address), 'connect');
  };
}

/** The new dispatcher has the class and the options of the current one, which is made when undici is loaded. */
function replaceDispatcher(): void {
  const key = Symbol.for('undici.globalDispatcher.1');
  void globalThis.Response;
  const all = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const present = agentOf(all[key]);
  if (present === undefined) return;
  const options = (present[symbolOf(present, 'options')] as { readonly connect?: unknown } | undefined) ?? {};
  if (typeof options.connect === 'function') return;
  all[key] = new present.constructor({ ...options, connect: connectorWith(options.connect ?? {}) });
}

/** The agent without a proxy: the dispatcher itself, or one in Node's own dispatcher for the proxy of the environment. */
function agentOf(dispatcher: Dispatcher | undefined): Dispatcher | undefined {
  if (dispatcher?.constructor.name !== 'EnvHttpProxyAgent')
    return dispatcher?.constructor.name === 'Agent' ? dispatcher : undefined;
  return agentOf(dispatcher[symbolOf(dispatcher, 'no proxy agent')] as Dispatcher | undefined);
}

function symbolOf(dispatcher: Dispatcher, name: string): symbol {
  return Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === name) ?? Symbol(name);
}

/** Null: connect without a proxy. */
function proxyFor(isSecure: boolean, address: Address): URL | null {
  const { env } = process;
  const text = isSecure ? (env.https_proxy ?? env.HTTPS_PROXY) : (env.http_proxy ?? env.HTTP_PROXY);
  if (!text || isDirect(env.no_proxy ?? env.NO_PROXY ?? '', address)) return null;
  try {
    const url = new URL(text);
    return url.protocol === 'http:' ? url : null;
  } catch {
    return null;
  }
}

/** An entry of NO_PROXY also covers subdomains; with a port it covers that port only. */
function isDirect(list: string, { host, port }: Address): boolean {
  const name = host.toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      const [, written = entry, only] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (only !== undefined && Number(only) !== port) return false;
      const suffix = written.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
      return suffix === '*' || name === suffix || name.endsWith(`.${suffix}`);
    });
}
