// @needs root
/** Images of a real Docker Engine. */
import { DockerImages } from '../../src/kernel/engine/docker/image/images.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { imageConformance } from './image.ts';

imageConformance('docker', async () => {
  const dockerd = await Dockerd.open();
  const engine = new DockerImages(dockerd.socketPath);
  return {
    engine,
    parent: (await engine.find(image))!.id,
    commands: {
      echo: (text) => `RUN echo ${text}`,
      exit: (code) => `RUN exit ${code}`,
      hang: 'RUN sleep 300',
    },
    running: async () => (await dockerd.docker('ps', '-aq')).split('\n').filter(Boolean).length,
    cleanup: () => dockerd.dispose(),
  };
});
