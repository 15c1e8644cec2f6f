/** The container of a hub and those of its projects, as `carrel compose` renders them: names and paths that all of them know. */

export const hubImageName = 'carrel-hub:latest';
/** The name by which the containers of projects dial the hub. */
export const hubHost = 'hub';
/**
 * The path of the spoke program with everything it needs: in the image, and in each project's container as a read-only
 * volume.
 */
export const hubToolsPath = '/opt/carrel';
/** The path of the same volume in the hub's container: the hub fills it. */
export const hubToolsVolume = '/run/carrel/tools';
/** The path in the hub's container of the volumes with tokens, one volume for each project. */
export const spokeTokensPath = '/run/carrel/spokes';
/** The path of that volume in the container of the project. */
export const spokeTokenPath = '/run/carrel/hub';
export const spokeTokenName = 'token';
/** Ids of the projects, separated by commas. */
export const hubProjectsVariable = 'CARREL_HUB_PROJECTS';
