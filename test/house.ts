/**
 * The arrows of the house: which file of `src` may import which. Nouns are rooms that stand on a staircase, lowest first;
 * each has floors. Tests and fakes may import anything, and only they import fakes.
 *
 *  1. `model` imports model; `lib` imports lib and model.
 *  2. `kernel` imports model, lib and kernel without `kernel/daemon`; of the tables types, and the values of two: jobs
 *     (`kernel/job`) and app (`kernel/settings`). Never a noun.
 *  3. `client` imports model, lib, client, the table of commands and the types of routes; `inside` imports model, lib, inside.
 *  4. A noun's model imports models of all nouns and the tables of grants. An api imports these, and all apis.
 *  5. A mechanism imports models, its own mechanism, contracts of the kernel (other files of it by type), and contracts of
 *     lower nouns. A contract may name the types of its own api: they are what other nouns get.
 *  6. An app imports all of its noun but cli and inside, the kernel without the daemon, all models and apis, and of lower
 *     nouns contracts and the types of their app.
 *  7. A cli imports its own model, api and mechanism, the client, all models and apis, and the cli of lower nouns. `inside`
 *     imports its own model, the frame `src/inside`, all models, and `inside` of lower nouns.
 *  8. Only models and apis of higher nouns are imported.
 *  9. `kernel/daemon` and each `app/…wiring.ts` import anything and construct; only the daemon imports a wiring.
 * 10. `extra` follows the rules of nouns and stands above all of them; only tables and the daemon import it.
 *
 * A contract is a file of the mechanism, or of a folder below `app`, with the name of its folder.
 */

export const staircase = [
  ...['sandbox', 'user', 'volume', 'image', 'workspace', 'project', 'network', 'agent', 'session', 'hub', 'share'],
  ...['room', 'memory', 'swarm', 'installation'],
];

/** The tables in `src/noun`, by the floor that they belong to. */
const tables: Readonly<Record<string, string>> = {
  ...{
    'table.ts': 'model',
    'rows.ts': 'model',
    'grant-table.ts': 'model',
    'grant-api.ts': 'api',
    'routes.ts': 'types',
  },
  ...{ 'parts.ts': 'mechanism', 'jobs.ts': 'jobs', 'app.ts': 'app', 'tools.ts': 'app', 'cli.ts': 'cli' },
};

/** Where a file is in the house. */
interface Place {
  /** `table`: a file directly in `src/noun`. */
  readonly area: 'model' | 'lib' | 'kernel' | 'client' | 'inside' | 'table' | 'noun' | 'extra';
  /** The noun, the part of the kernel as `kernel/store`, or the area. */
  readonly unit: string;
  /** Of nouns and extras; of a table the floor that it belongs to. */
  readonly floor: string;
  readonly isContract: boolean;
  readonly isWiring: boolean;
}

/** Null: outside of the house. */
function placeOf(path: string): Place | null {
  const [src, area, unit = '', ...rest] = path.split('/');
  if (src !== 'src') return null;
  const plain = { unit: area!, floor: '', isContract: false, isWiring: false };
  switch (area) {
    case 'model':
    case 'lib':
    case 'client':
    case 'inside':
      return { ...plain, area };
    case 'kernel':
      return { ...plain, area, unit: `kernel/${unit}`, isContract: rest.length === 1 && rest[0] === `${unit}.ts` };
    case 'noun':
    case 'extra':
      if (rest.length === 0) return { ...plain, area: 'table', floor: tables[unit] ?? 'unknown' };
      return { area, unit, ...floorOf(unit, rest) };
    default:
      return null;
  }
}

function floorOf(unit: string, rest: readonly string[]): Pick<Place, 'floor' | 'isContract' | 'isWiring'> {
  const [first] = rest as [string];
  const file = rest.at(-1)!;
  const floor = /^(model|api)(\.ts)?$/.exec(first)?.[1] ?? (/^(app|cli|inside)$/.test(first) ? first : 'mechanism');
  const isNamed = file === `${rest.length === 1 ? unit : rest.at(-2)}.ts`;
  const isContract = isNamed && (floor === 'mechanism' || (floor === 'app' && rest.length > 2));
  return { floor, isContract, isWiring: floor === 'app' && file.endsWith('wiring.ts') };
}

/** The rule that the import breaks, in a few words; null: it breaks none. */
export function brokenRule(fromPath: string, toPath: string, typeOnly: boolean): string | null {
  const [from, to] = [placeOf(fromPath), placeOf(toPath)];
  if (from === null || to === null) return to === null ? 'outside of src' : null;
  if (from.unit === 'kernel/daemon' || from.isWiring) return null;
  if (to.isWiring) return 'only the daemon imports a wiring';
  if (to.unit === 'kernel/daemon') return 'only the daemon imports its files';
  if (to.area === 'extra' && from.area !== 'extra') return from.area === 'table' ? null : 'core imports no extra';
  if (to.area === 'model') return null;
  if (to.area === 'lib') return from.area === 'model' ? 'the model imports only the model' : null;
  if (to.area === 'table') return ruleOfTable(from, to, typeOnly, toPath);
  switch (from.area) {
    case 'table':
      return ruleFromTable(from, to);
    case 'noun':
    case 'extra':
      return ruleOfNoun(from, to, typeOnly);
    default:
      return from.area === to.area ? null : `${from.area} imports no ${to.area}`;
  }
}

function ruleFromTable(from: Place, to: Place): string | null {
  const isModel = to.area === 'noun' && to.floor === 'model';
  return from.floor !== 'model' || isModel ? null : 'a table of models imports only models';
}

function ruleOfTable(from: Place, to: Place, typeOnly: boolean, toPath: string): string | null {
  if (from.area === 'table' || to.floor === 'model')
    return from.area === 'model' || from.area === 'lib' ? 'no tables' : null;
  if (typeOnly && ['types', 'jobs', 'app'].includes(to.floor) && !['model', 'lib'].includes(from.area)) return null;
  const readers: Readonly<Record<string, boolean>> = {
    api: from.floor === 'api' || from.floor === 'app',
    jobs: from.unit === 'kernel/job',
    app: from.unit === 'kernel/settings' || (from.unit === 'hub' && toPath.endsWith('/tools.ts')),
    cli: from.area === 'client',
    mechanism: from.unit === 'sandbox',
  };
  return readers[to.floor] ? null : `${from.unit} does not read the table ${toPath.split('/').at(-1)}`;
}

function ruleOfNoun(from: Place, to: Place, typeOnly: boolean): string | null {
  switch (to.area) {
    case 'client':
      return from.floor === 'cli' ? null : `${from.floor} imports no client`;
    case 'inside':
      return from.floor === 'inside' ? null : `${from.floor} does not import the frame inside`;
    case 'kernel':
      if (from.floor === 'app' || (from.floor === 'mechanism' && (typeOnly || to.isContract))) return null;
      return from.floor === 'mechanism'
        ? 'a mechanism imports contracts of the kernel'
        : `${from.floor} imports no kernel`;
    default:
      return from.unit === to.unit && from.area === to.area
        ? ruleOfOwn(from, to, typeOnly)
        : ruleOfOther(from, to, typeOnly);
  }
}

/** Floors of the own noun that a floor may import, besides itself and the model. */
const ownFloors: Readonly<Record<string, readonly string[]>> = {
  ...{ model: [], api: [], mechanism: [], inside: [] },
  ...{ app: ['api', 'mechanism'], cli: ['api', 'mechanism'] },
};

function ruleOfOwn(from: Place, to: Place, typeOnly: boolean): string | null {
  if (from.floor === to.floor || to.floor === 'model') return null;
  if (from.isContract && to.floor === 'api' && typeOnly) return null;
  return ownFloors[from.floor]!.includes(to.floor) ? null : `${from.floor} imports no ${to.floor}`;
}

function ruleOfOther(from: Place, to: Place, typeOnly: boolean): string | null {
  if (to.floor === 'model') return null;
  if (to.floor === 'api') return ['api', 'app', 'cli'].includes(from.floor) ? null : `${from.floor} imports no api`;
  const isDown = from.area === 'extra' || staircase.indexOf(to.unit) < staircase.indexOf(from.unit);
  if (!isDown) return `up the stairs: ${from.unit} imports ${to.unit}`;
  if (to.isContract && ['mechanism', 'app'].includes(from.floor)) return null;
  if (from.floor === to.floor && ['cli', 'inside'].includes(from.floor)) return null;
  if (typeOnly && from.floor === 'app' && to.floor === 'app') return null;
  return `past the contract: ${from.floor} imports ${to.floor} of ${to.unit}`;
}
