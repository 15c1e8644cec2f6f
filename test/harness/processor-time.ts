/** The processor time that this process has used. Unlike the time on the clock it does not grow with the load of the machine. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
