/** The container of a hub and those of its projects, as `carrel compose` renders them: names and paths that all of them know. */

export const hubImageName = 'carrel-hub:latest';
/** By which the containers of projects dial it. */
export const hubHost = 'hub';
/** In the image, and in the container of each project, as a read-only volume: the spoke program with everything it needs. */
export const hubToolsPath = '/opt/carrel';
/** In the hub's container, the same volume: the hub fills it. */
export const hubToolsVolume = '/run/carrel/tools';
/** In the hub's container: a volume for each project, with its token. */
export const spokeTokensPath = '/run/carrel/spokes';
/** In the container of a project: its volume. */
export const spokeTokenPath = '/run/carrel/hub';
export const spokeTokenName = 'token';
/** Ids of the projects, separated by commas. */
export const hubProjectsVariable = 'CARREL_HUB_PROJECTS';
