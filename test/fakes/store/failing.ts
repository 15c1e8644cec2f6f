/** A store with fault knobs, for tests of callers: a call that must fail throws before it reaches the inner store. */

import type { Store } from '../../../src/kernel/store/store.ts';
import type { Fault } from '../../../src/model/fault.ts';

export type StoreMethod = keyof Store;
export type FaultRule = (method: StoreMethod, args: readonly unknown[]) => Fault | null;

export interface Knobs {
  /** The next call of this method fails; several faults are consumed in order. */
  failNext(method: StoreMethod, fault: Fault): void;
  /** The verdict is called before each call that `failNext` lets pass; null removes it. */
  failWhen(verdict: FaultRule | null): void;
}

export function failing(store: Store, initial: FaultRule | null = null): Store & Knobs {
  const pending: { readonly method: StoreMethod; readonly fault: Fault }[] = [];
  let verdict = initial;

  const knobs: Knobs = {
    failNext: (method, fault) => void pending.push({ method, fault }),
    failWhen: (next) => {
      verdict = next;
    },
  };

  function faultFor(method: StoreMethod, args: readonly unknown[]): Fault | null {
    const index = pending.findIndex((entry) => entry.method === method);
    if (index >= 0) return pending.splice(index, 1)[0]!.fault;
    return verdict?.(method, args) ?? null;
  }

  function guarded(method: StoreMethod, args: readonly unknown[]): unknown {
    const fault = faultFor(method, args);
    if (fault) throw fault;
    return Reflect.apply(store[method], store, args);
  }

  return new Proxy(store, {
    get(target, property) {
      if (Object.hasOwn(knobs, property)) return Reflect.get(knobs, property);
      if (typeof Reflect.get(target, property) !== 'function') return Reflect.get(target, property);
      return (...args: unknown[]) => guarded(property as StoreMethod, args);
    },
  }) as Store & Knobs;
}
