/** Finds the container of a sandbox by its labels. The name of a container is only for people. */
import type { ContainerInspectInfo } from 'dockerode';
import { labelFilter } from '../naming.ts';
import type { Connection } from './connection.ts';

export class Containers {
  readonly #connection: Connection;
  readonly #installation: string;
  readonly #known = new Map<string, string>();

  constructor(connection: Connection, installation: string) {
    this.#connection = connection;
    this.#installation = installation;
  }

  remember(id: string, container: string): void {
    this.#known.set(id, container);
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  async find(id: string): Promise<ContainerInspectInfo | null> {
    const known = this.#known.get(id);
    const found = known === undefined ? null : await this.#inspect(known);
    return found ?? (await this.#findAnew(id));
  }

  /**
   * The container's id. Without a container it is a name that no container has, so that the engine reports the missing
   * container.
   */
  async idOf(id: string): Promise<string> {
    return this.#known.get(id) ?? (await this.#look(id)) ?? `carrel-none-${id}`;
  }

  /**
   * Searches by labels when the known container is gone: another daemon of this installation may have created a new
   * one.
   */
  async #findAnew(id: string): Promise<ContainerInspectInfo | null> {
    this.forget(id);
    const container = await this.#look(id);
    return container === null ? null : this.#inspect(container);
  }

  async #look(id: string): Promise<string | null> {
    const filters = JSON.stringify(labelFilter(this.#installation, id));
    const [found] = await this.#connection.ask((docker) => docker.listContainers({ all: true, filters }));
    if (found) this.remember(id, found.Id);
    return found?.Id ?? null;
  }

  #inspect(container: string): Promise<ContainerInspectInfo | null> {
    return this.#connection.find((docker) => docker.getContainer(container).inspect());
  }
}
