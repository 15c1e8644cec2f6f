/** An error of an agent, with a reason that the protocol of swarms knows. */
import { type OwnReason, ownReasons, type SwarmErrorCode } from '../../swarm/model/message.ts';

/** An error that ends a task file or one story. Code null: the agent itself gave up. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError';
  readonly code: SwarmErrorCode | null;

  constructor(code: SwarmErrorCode | null, message: string) {
    super(message);
    this.code = code;
  }

  /** For reasons that the protocol has no code for. */
  static of(reason: OwnReason, message: string): AdapterError {
    return new AdapterError(ownReasons[reason], `${reason}: ${message}`);
  }
}
