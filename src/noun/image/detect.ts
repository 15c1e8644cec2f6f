/**
 * Writes a Dockerfile for a project that has none, from the files of package managers. Programs in `/workspace` find
 * what it installs although it is elsewhere: Node searches `/node_modules` by itself.
 */
import { Anchor, within } from '../../lib/file/anchor.ts';
import { Fault } from '../../model/fault.ts';
import { readSmall } from './context/small-file.ts';

export interface Detected {
  /** The files it was made from. */
  readonly from: readonly string[];
  readonly text: string;
  /** What was found but not used, with the reason. */
  readonly notes: readonly string[];
}

interface Part {
  readonly from: string;
  readonly lines: readonly string[];
}

type Detector = (has: (name: string) => boolean, root: Anchor) => Part | string | null;

const maxFileBytes = 32 * 1024 ** 2;
const apt = (names: string) =>
  `apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${names} && rm -rf /var/lib/apt/lists/*`;
const needs = (program: string, names: string) => `RUN command -v ${program} >/dev/null || { ${apt(names)}; }`;

const textOf = (root: Anchor, name: string) => readSmall(root, name, maxFileBytes)?.toString('utf8') ?? '';

const node: Detector = (has, root) => {
  if (!has('package-lock.json')) return null;
  if (!has('package.json')) return 'package-lock.json is alone, without package.json';
  if (hasOwnPackages(textOf(root, 'package-lock.json'))) {
    return 'package-lock.json has packages of the project itself';
  }
  return {
    from: 'package-lock.json',
    lines: [
      'COPY package.json package-lock.json /',
      'RUN cd / && npm ci --no-audit --no-fund && rm -rf /package.json /package-lock.json /root/.npm',
    ],
  };
};

/** Whether the lock file has workspaces or packages by path: these are in the working copy and change with it. */
function hasOwnPackages(lock: string): boolean {
  try {
    const { packages = {} } = JSON.parse(lock) as { packages?: Record<string, unknown> };
    return Object.keys(packages).some((path) => path !== '' && !/(^|\/)node_modules\//.test(path));
  } catch (error) {
    throw new Fault('invalid', `package-lock.json is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

const python: Detector = (has, root) => {
  if (!has('requirements.txt')) return null;
  const lines = textOf(root, 'requirements.txt').split(/\r?\n/);
  const local = lines.find((line) => /^\s*(-r|-c|-e|--requirement|--constraint|--editable|\.|\/|file:)/.test(line));
  if (local !== undefined) return `requirements.txt names other files: ${local.trim().slice(0, 60)}`;
  return {
    from: 'requirements.txt',
    lines: [
      'COPY requirements.txt /opt/carrel/requirements.txt',
      'RUN python3 -m pip install --break-system-packages --no-cache-dir --root-user-action=ignore -r /opt/carrel/requirements.txt',
    ],
  };
};

/** Published dependencies can be built without the sources of the project; cargo insists on some sources. */
const rust: Detector = (has) => {
  if (!has('Cargo.toml')) return null;
  const fetch = [
    'ENV CARGO_HOME=/opt/carrel/cargo',
    'COPY Cargo.toml Cargo.lock /opt/carrel/fetch/',
    `RUN cd /opt/carrel/fetch && mkdir -p src && touch src/lib.rs && { cargo fetch --locked || echo 'crates were not fetched'; } && rm -rf /opt/carrel/fetch`,
  ];
  return { from: 'Cargo.toml', lines: [needs('cargo', 'cargo rustc'), ...(has('Cargo.lock') ? fetch : [])] };
};

/** Go reads the modules through GOPROXY from a folder, so that the agent's module cache stays writable. */
const go: Detector = (has) => {
  if (!has('go.mod')) return null;
  const files = has('go.sum') ? 'go.mod go.sum' : 'go.mod';
  return {
    from: 'go.mod',
    lines: [
      needs('go', 'golang-go ca-certificates'),
      `COPY ${files} /opt/carrel/fetch/`,
      'RUN cd /opt/carrel/fetch && GOMODCACHE=/opt/carrel/go go mod download && rm -rf /opt/carrel/fetch',
      'ENV GOPROXY=file:///opt/carrel/go/cache/download,https://proxy.golang.org,direct',
    ],
  };
};

const detectors: readonly Detector[] = [node, python, rust, go];

/** Runs in a thread: a lock file of the largest size takes long to parse. */
export function detectAt(project: string, base: string): Detected | null {
  return within(Anchor.reach(project), (root) => detect(root, base));
}

/** Null: the project needs no image of its own. */
export function detect(root: Anchor, base: string): Detected | null {
  const has = (name: string) => root.look(name)?.isFile() ?? false;
  const found = detectors.map((detector) => detector(has, root)).filter((part) => part !== null);
  const parts = found.filter((part) => typeof part !== 'string');
  if (found.length === 0) return null;
  return {
    from: parts.map(({ from }) => from),
    text: [`FROM ${base}`, ...parts.flatMap(({ lines }) => lines), ''].join('\n'),
    notes: found.filter((part) => typeof part === 'string'),
  };
}
