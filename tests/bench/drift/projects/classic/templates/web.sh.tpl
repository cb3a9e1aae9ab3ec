#!/bin/sh
hostname ${name}
%{ for module in modules ~}
a2enmod ${module}
%{ endfor ~}
