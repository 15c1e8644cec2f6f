import { bankConformance } from '../../../../test/conformance/bank.ts';
import { FakeBank } from './fake.ts';

bankConformance('the fake bank', (limits, clock) => {
  const bank = new FakeBank(limits, () => clock.now);
  return {
    bank,
    plainWrite: (path, content) => void bank.plain.set(path, content),
    plainRemove: (path) => void bank.plain.delete(path),
    plainRead: (path) => bank.plain.get(path) ?? null,
  };
});
