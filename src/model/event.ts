/** Something that happened, in the order it was stored. `seq` only grows and never repeats within one installation. */
export interface Event {
  readonly seq: number;
  readonly at: string;
  /** `noun.verb`, such as `sandbox.created`. */
  readonly type: string;
  /** The id of the record that the event is about. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type NewEvent = Omit<Event, 'seq'>;
