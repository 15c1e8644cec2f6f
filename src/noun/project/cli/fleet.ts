/**
 * A fleet for the commands: its parsed file, and the daemon that interprets it.
 *
 * `carrel up` with a carrel.yaml: the file is read (`client/project-file/file.ts`) → the daemon plans and answers with steps → the client takes
 * them one after another through the ordinary routes (`fleet-act.ts`), and prints each. A failed step holds back only the steps
 * that need it. What the file gives to sandboxes has to be trusted before the first step. For other commands, a request
 * that is refused for lack of trust asks at a terminal and is sent once more (`client/project-file/trust.ts`).
 */
import type { Client } from '../../../client/client.ts';
import type { FleetFilePath } from '../../../client/project-file/file.ts';
import { readYaml, type YamlDocument } from '../../../lib/text/yaml.ts';
import { Fault, faultTable, isFault } from '../../../model/fault.ts';
import type { JsonPath } from '../../../model/shape.ts';
import type { ComposedFleet, FleetPlan, FleetStep } from '../api/fleet.ts';

export class Fleet {
  readonly #client: Client;
  readonly #file: FleetFilePath;
  readonly #document: YamlDocument;

  constructor(client: Client, file: FleetFilePath) {
    this.#client = client;
    this.#file = file;
    this.#document = readYaml(file.text, file.shown);
  }

  plan(): Promise<FleetPlan> {
    return this.#located(this.#client.call('POST /v1/fleet/plan', { body: this.#body }));
  }

  compose(): Promise<ComposedFleet> {
    return this.#located(this.#client.call('POST /v1/fleet/compose', { body: this.#body }));
  }

  /** Adds to the refusal of a step the line of the sandbox or watcher in the file. */
  async blame<T>(step: FleetStep, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (!isFault(error) || error.data?.problems || faultTable[error.code].retry || !('request' in step)) throw error;
      const { code, message, hint } = error;
      const problem = { place: placeOf(step), message };
      throw located(
        new Fault(code, message, { cause: error, ...(hint ? { hint } : {}), data: { problems: [problem] } }),
        this.#document,
      );
    }
  }

  get #body() {
    return { file: this.#file.path, content: this.#document.content };
  }

  /** Replaces the places that the daemon reports by lines of the file. */
  async #located<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      throw isFault(error) ? located(error, this.#document) : error;
    }
  }
}

function placeOf(step: Extract<FleetStep, { request: unknown }>): JsonPath {
  return step.act === 'watch' ? ['rooms', step.room, 'watch', step.name] : ['sandboxes', step.name];
}

interface ReportedProblem {
  readonly place: JsonPath;
  readonly message: string;
}

function located(fault: Fault, document: YamlDocument): Fault {
  const problems = fault.data?.problems as readonly ReportedProblem[] | undefined;
  if (problems === undefined) return fault;
  const lines = problems
    .map(({ place, message }) => ({ at: document.locate(place), what: [...whereText(place), message].join(': ') }))
    .sort((one, other) => one.at.offset - other.at.offset)
    .map(({ at, what }) => `${at.text}: ${what}`);
  return new Fault(fault.code, lines.join('\n'), {
    cause: fault,
    ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    data: fault.data!,
  });
}

function whereText(place: JsonPath): string[] {
  return place.length === 0 ? [] : [place.join('.')];
}
