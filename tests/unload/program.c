// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * usage: program PLUGIN
 * A thread that has waited for a lock of a plugin ends after the plugin is gone.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *path;

static void *use_and_unload(void *unused)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*wait)(void);

	(void)unused;
	if (!plugin)
		return (void *)dlerror();
	*(void **)&wait = dlsym(plugin, "plugin_wait");
	if (!wait)
		return "it has no plugin_wait()";
	wait();
	if (dlclose(plugin))
		return (void *)dlerror();
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		return "it is still loaded";
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	void *wrong;

	if (argc != 2)
		return 2;
	path = argv[1];
	if (pthread_create(&thread, NULL, use_and_unload, NULL))
		return 2;
	pthread_join(thread, &wrong);
	if (wrong)
		puts(wrong);
	return wrong != NULL;
}
