import { imageConformance } from '../../../test/conformance/image.ts';
import { FakeImages } from './fake.ts';

imageConformance('the fake', async () => {
  const engine = new FakeImages();
  const parent = engine.put('parent', 'a parent');
  const commands = {
    echo: (text: string) => `RUN echo ${text}`,
    exit: (code: number) => `RUN exit ${code}`,
    hang: 'RUN hang',
  };
  return { engine, parent, commands, running: async () => 0, cleanup: async () => {} };
});
